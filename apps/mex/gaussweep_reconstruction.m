function f = gaussweep_reconstruction (g, h, lambda, inversion, product)
%GAUSSWEEP_RECONSTRUCTION  Restores an image by inverting a matrix, after J. Soriano (2011), Table 6.2.
%   f = gaussweep_reconstruction(g, h)          f = (H H')^-1 H' g with H = gaussweep_filter2matrix(h, size of g)
%   f = gaussweep_reconstruction(g, h, lambda)  f = (H H' + lambda I)^-1 H' g
%   f = gaussweep_reconstruction(g, h, lambda, inversion, product)  with methods of gaussweep_inv and gaussweep_mtimes:
%                                               'problem/variant' or 'variant', or a cell with a method, names and
%                                               values, {'gemm/shared', 'tile', 32}. Default: the library's
%
%   As in the thesis: H H' and (H H' + lambda I)^-1 H' are products of full matrices, n^3 operations each for n pixels
%   ('gaussweep restore' avoids them). The result is the regularised restoration only if H H' = H' H.
%   g: an image of real numbers, single or double, of any shape; h: a filter. f has the size of g, single if g or h is.
%   Errors: those of GAUSSWEEP_INV, GAUSSWEEP_MTIMES and GAUSSWEEP_FILTER2MATRIX.
%
%   See also GAUSSWEEP_FILTER2MATRIX, GAUSSWEEP_INV, GAUSSWEEP_MTIMES.

  if nargin < 2 || nargin > 5
    error ('gaussweep:usage', 'usage: gaussweep_reconstruction(g, h, lambda, inversion, product), all after h optional');
  end
  if nargin < 3
    lambda = 0;
  end
  if nargin < 4
    inversion = '';
  end
  if nargin < 5
    product = '';
  end
  if ~isnumeric (lambda) || ~isscalar (lambda) || ~isreal (lambda) || ~(lambda >= 0) || isinf (lambda)
    error ('gaussweep:usage', 'lambda must be a number from 0 on');
  end
  if ~isa (g, 'double') && ~isa (g, 'single')
    error ('gaussweep:type', 'g is of class %s: real single or double matrices are allowed', class (g));
  end
  if ~isreal (g)
    error ('gaussweep:complex', 'g is complex: real single or double matrices are allowed');
  end
  if ndims (g) ~= 2 || isempty (g)
    error ('gaussweep:size', 'g must be a matrix of at least one pixel');
  end
  if ~iscell (inversion)
    inversion = {inversion};
  end
  if ~iscell (product)
    product = {product};
  end

  [rows, cols] = size (g);
  if isa (g, 'single')
    h = single (h);
  end
  H = gaussweep_filter2matrix (h, rows, cols);
  system = gaussweep_mtimes (H, H', product{:});
  system = (system + system') / 2;  % a library may round the two triangles differently
  diagonal = 1:rows * cols + 1:numel (system);
  system(diagonal) = system(diagonal) + lambda;
  inverse = gaussweep_inv (system, inversion{:});
  pixels = cast (full (g).', class (H));
  f = gaussweep_mtimes (inverse, H', product{:}) * pixels(:);
  f = reshape (f, cols, rows).';
end
