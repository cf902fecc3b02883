function X = gaussweep_inv (varargin)
%GAUSSWEEP_INV  The inverse of a square matrix, by a method of gaussweep.
%   X = gaussweep_inv(A)          by cuSOLVER, or without a GPU by LAPACK
%   X = gaussweep_inv(A, method)  by 'problem/variant' or 'variant' of the problems geinv and, for symmetric positive
%                                 definite matrices, poinv; 'gaussweep methods' in a shell lists them
%   X = gaussweep_inv(A, method, name, value, ...)  with parameters of the method and 'backend': 'auto' (the GPU if
%                                 there is one and the method supports it), 'cuda', 'emulated', 'host'
%
%   A: n x n, n >= 1, full, real, single or double; X has its class.
%   Errors: gaussweep:nonSquare, empty, complex, sparse, type, size, singular, notPositiveDefinite, notSymmetric,
%   diverged, unknownMethod, usage, outOfMemory, device, internal.  Warning: gaussweep:notConverged.
%
%   See also INV, GAUSSWEEP_SOLVE, GAUSSWEEP_MTIMES.

  for i = find (cellfun ('isclass', varargin, 'string'))
    varargin{i} = char (varargin{i});  % MATLAB's C interface cannot read strings
  end
  X = gaussweep_mex ('inv', varargin{:});
end
