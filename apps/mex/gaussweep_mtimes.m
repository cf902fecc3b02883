function C = gaussweep_mtimes (varargin)
%GAUSSWEEP_MTIMES  The matrix product A * B, by a method of gaussweep.
%   C = gaussweep_mtimes(A, B)          by cuBLAS, or without a GPU by OpenBLAS
%   C = gaussweep_mtimes(A, B, method)  by 'gemm/variant' or 'variant'; 'gaussweep methods' in a shell lists them
%   C = gaussweep_mtimes(A, B, method, name, value, ...)  with parameters of the method and 'backend': 'auto' (the GPU if
%                                       there is one and the method supports it), 'cuda', 'emulated', 'host'
%
%   A: m x k, B: k x n, neither empty, full, real, single or double. C: m x n, single if A or B is. A scalar is a 1 x 1
%   matrix here.
%   Errors: gaussweep:size, empty, complex, sparse, type, unknownMethod, usage, outOfMemory, device, internal.
%
%   See also MTIMES, GAUSSWEEP_INV, GAUSSWEEP_SOLVE.

  for i = find (cellfun ('isclass', varargin, 'string'))
    varargin{i} = char (varargin{i});  % MATLAB's C interface cannot read strings
  end
  C = gaussweep_mex ('mtimes', varargin{:});
end
