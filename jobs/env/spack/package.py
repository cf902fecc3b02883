# flake8: noqa: F403, F405 (recipes import all of spack.package)
# A Spack recipe: `spack repo create REPO`, this file as REPO/packages/gaussweep/package.py, `spack repo add REPO`, then
# `spack install gaussweep +cuda cuda_arch=90`. `spack dev-build gaussweep@main` builds the working tree.

from spack.package import *


class Gaussweep(CMakePackage, CudaPackage):
    """Sweeps of dense linear-algebra methods over sizes, parameters and GPUs, as cluster batch jobs."""

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("report", default=True, description="Python packages of the report")

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("mpi")
    depends_on("hdf5 ~mpi")
    depends_on("yaml-cpp")
    depends_on("cli11")
    depends_on("spdlog +fmt_external")
    depends_on("fmt")
    depends_on("nlohmann-json")
    depends_on("openblas threads=pthreads")
    depends_on("boost +context")
    depends_on("openssl")
    depends_on("libpng")
    depends_on("netpbm")
    depends_on("sqlite")
    depends_on("zlib-api")
    with when("+report"):
        depends_on("python@3.9:", type="run")
        depends_on("py-h5py", type="run")
        depends_on("py-numpy", type="run")
        depends_on("py-pandas", type="run")
        depends_on("py-matplotlib", type="run")

    def cmake_args(self):
        arguments = [self.define("GAUSSWEEP_TESTS", False), self.define_from_variant("GAUSSWEEP_CUDA", "cuda")]
        if "+cuda" in self.spec:
            arguments.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return arguments
