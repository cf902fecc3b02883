function H = gaussweep_filter2matrix (h, rowsf, colsf, rowsg, colsg)
%GAUSSWEEP_FILTER2MATRIX  The matrix H of a filter, so that g = H f, after J. Soriano (2011), Table 6.1.
%   H = gaussweep_filter2matrix(h, rowsf, colsf)                images f and g of rowsf x colsf pixels
%   H = gaussweep_filter2matrix(h, rowsf, colsf, rowsg, colsg)  g of rowsg x colsg pixels: H is rectangular
%
%   Images are vectors, row by row from the top: f' (:). g(y,x) is the sum of h(i,j) f(y+i-r, x+j-c) with the filter's
%   centre (r,c) = ceil(size(h)/2), for odd and even numbers of rows and columns; f is 0 outside of the image.
%   H: rowsg colsg x rowsf colsf, full, of h's class.
%   Errors: gaussweep:usage, empty, complex, type, size.
%
%   See also GAUSSWEEP_RECONSTRUCTION, CONV2.

  if nargin ~= 3 && nargin ~= 5
    error ('gaussweep:usage', 'usage: gaussweep_filter2matrix(h, rowsf, colsf, rowsg, colsg), the last two optional');
  end
  if nargin == 3
    rowsg = rowsf;
    colsg = colsf;
  end
  if ~isa (h, 'double') && ~isa (h, 'single')
    error ('gaussweep:type', 'h is of class %s: real single or double matrices are allowed', class (h));
  end
  if ~isreal (h)
    error ('gaussweep:complex', 'h is complex: real single or double matrices are allowed');
  end
  if ndims (h) ~= 2
    error ('gaussweep:size', 'h has %d dimensions: matrices are allowed', ndims (h));
  end
  if isempty (h)
    error ('gaussweep:empty', 'h is empty');
  end
  sizes = {rowsf, colsf, rowsg, colsg};
  names = {'rowsf', 'colsf', 'rowsg', 'colsg'};
  for k = 1:4
    s = sizes{k};
    if ~isnumeric (s) || ~isscalar (s) || ~isreal (s) || ~(s >= 1) || s ~= fix (s) || isinf (s)
      error ('gaussweep:size', '%s must be a whole number from 1 on', names{k});
    end
  end

  [rowsh, colsh] = size (h);
  H = zeros (rowsg * colsg, rowsf * colsf, class (h));
  for i = 1:rowsh
    down = i - ceil (rowsh / 2);
    y = max (1, 1 - down):min (rowsg, rowsf - down);
    for j = 1:colsh
      right = j - ceil (colsh / 2);
      x = max (1, 1 - right):min (colsg, colsf - right);
      if isempty (x) || isempty (y)
        continue
      end
      [X, Y] = meshgrid (x, y);
      p = (Y - 1) * colsg + X;
      q = (Y + down - 1) * colsf + X + right;
      H(sub2ind (size (H), p(:), q(:))) = full (h(i,j));
    end
  end
end
