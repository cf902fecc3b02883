function x = gaussweep_solve (varargin)
%GAUSSWEEP_SOLVE  The solution of A x = b, by a method of gaussweep.
%   x = gaussweep_solve(A, b)          by cuSOLVER, or without a GPU by LAPACK
%   x = gaussweep_solve(A, b, method)  by 'problem/variant' or 'variant' of the problems gesv and, for triangular A
%                                      (detected as lower or upper), trsv; 'gaussweep methods' in a shell lists them
%   x = gaussweep_solve(A, b, method, name, value, ...)  with parameters of the method and 'backend': 'auto' (the GPU if
%                                      there is one and the method supports it), 'cuda', 'emulated', 'host'
%
%   A: n x n, b: n x nrhs, neither empty, full, real, single or double. x: n x nrhs, single if A or b is.
%   Errors: gaussweep:nonSquare, empty, complex, sparse, type, size, singular, notTriangular, notSymmetric, diverged,
%   unknownMethod, usage, outOfMemory, device, internal.  Warning: gaussweep:notConverged.
%
%   See also MLDIVIDE, GAUSSWEEP_INV, GAUSSWEEP_MTIMES.

  for i = find (cellfun ('isclass', varargin, 'string'))
    varargin{i} = char (varargin{i});  % MATLAB's C interface cannot read strings
  end
  x = gaussweep_mex ('solve', varargin{:});
end
