% Tests the gateway to MATLAB and Octave (apps/mex/): compares its three calls with Octave's inv, \ and *, and tests every
% error message, and that repeated calls leak no memory.
%
%   octave-cli gateway_test.m FOLDER METHODS     FOLDER: build/mex; METHODS: a file of 'gaussweep methods --format json'
1;  % a script file, not a function file

function check (good, varargin)
  global checks failures
  checks += 1;
  if (! good)
    failures += 1;
    printf ("FAILED: %s\n", sprintf (varargin{:}));
  end
end

function d = difference (x, y)
  d = norm (double (x) - double (y), 'fro') / norm (double (y), 'fro');
  if (! isequal (size (x), size (y)) || isnan (d))
    d = Inf;
  end
end

function expect_close (x, y, varargin)
  what = sprintf (varargin{:});
  limit = 1e-10;
  if (isa (y, 'single'))
    limit = 1e-4;
  end
  check (strcmp (class (x), class (y)), '%s: class %s, expected %s', what, class (x), class (y));
  check (difference (x, y) < limit, '%s: relative difference %g', what, difference (x, y));
end

% Calls f and expects the error gaussweep:<name>, with `words` in its message.
function expect_error (name, words, f, varargin)
  try
    f (varargin{:});
    check (false, '%s: no error', name);
  catch e
    check (strcmp (e.identifier, ['gaussweep:' name]), 'gaussweep:%s expected, got "%s": %s', name, e.identifier, e.message);
    check (! isempty (strfind (e.message, words)), '%s: "%s" is not in "%s"', name, words, e.message);
  end
end

% Returns a symmetric, positive definite, diagonally dominant matrix. Every method can use it, except those whose needs
% include nonzero_elements.
function A = fit_matrix (n, type)
  R = rand (n);
  A = cast (R + R' + 2 * n * eye (n), type);
end

function two_answers (varargin)
  [one, two] = gaussweep_mex (varargin{:});
end

% Returns the resident memory of this process.
function kilobytes = resident ()
  kilobytes = sscanf (regexp (fileread ('/proc/self/status'), 'VmRSS:\s*(\d+)', 'tokens'){1}{1}, '%d');
end

global checks failures
checks = failures = 0;
arguments = argv ();
addpath (arguments{1});
rand ('twister', 20110901);
types = {'double', 'single'};
precisions = {'double', 'float'};

% Tests the library's methods on general matrices, with every way to name them.
for t = 1:2
  for n = [1 2 33 100]
    A = cast (rand (n) + eye (n) * n / 2, types{t});
    b = cast (rand (n, 3), types{t});
    what = sprintf ('%s, n = %d', types{t}, n);
    before = A + 0;
    for name = {{}, {''}, {'geinv'}, {'lapack'}, {'geinv/lapack'}}
      expect_close (gaussweep_inv (A, name{1}{:}), inv (A), 'inv %s, %s', strjoin (name{1}), what);
    end
    for name = {{}, {''}, {'gesv'}, {'lapack'}, {'gesv/lapack'}}
      expect_close (gaussweep_solve (A, b, name{1}{:}), A \ b, 'solve %s, %s', strjoin (name{1}), what);
    end
    for name = {{}, {'gemm'}, {'serial'}, {'gemm/shared', 'tile', 32}, {'shared', 'tile', '16'}}
      expect_close (gaussweep_mtimes (A, b, name{1}{1:min (end, 1)}), A * b, 'mtimes, %s', what);
    end
    for triangle = {tril(A), triu(A), diag(diag (A))}
      expect_close (gaussweep_solve (triangle{1}, b(:,1), 'trsv'), triangle{1} \ b(:,1), 'trsv, %s', what);
      expect_close (gaussweep_solve (full (triangle{1}), b, 'pair_sweep'), triangle{1} \ b, 'pair_sweep, %s', what);
    end
    check (isequal (A, before), 'A was overwritten, %s', what);
  end
end
A = rand (3, 70);
B = rand (70, 5);
expect_close (gaussweep_mtimes (A, B), A * B, 'rectangular product');
expect_close (gaussweep_mtimes (A(:)', A(:)), A(:)' * A(:), 'inner product');
expect_close (gaussweep_mtimes (B(:,1), A(1,:)), B(:,1) * A(1,:), 'outer product');

% One operand in single precision makes the answer single, as with Octave's own operators.
A = fit_matrix (20, 'double');
b = rand (20, 1);
expect_close (gaussweep_solve (single (A), b), single (A) \ b, 'single A, double b');
expect_close (gaussweep_solve (A, single (b)), A \ single (b), 'double A, single b');
expect_close (gaussweep_mtimes (single (A), b, 'global'), single (A) * b, 'single A, double B');

% Operands in Octave's other storage forms, and values that are not numbers.
expect_close (gaussweep_inv (2 * eye (4)), inv (2 * eye (4)) + zeros (4), 'diagonal matrix');
expect_close (gaussweep_inv (eye (4)([2 3 1 4], :)), inv (eye (4)([2 3 1 4], :)) + zeros (4), 'permutation matrix');
expect_close (gaussweep_mtimes (1:4, (1:4)'), 30, 'ranges');
expect_close (gaussweep_inv (complex (A, 0) + 0), inv (A), 'complex without imaginary part');
check (isnan (gaussweep_mtimes (NaN, 1)), 'NaN comes out');

% Tests every registry row that runs on a CPU.
rows = jsondecode (fileread (arguments{2}));
tested = 0;
for i = 1:numel (rows)
  if (iscell (rows))
    row = rows{i};
  else
    row = rows(i);
  end
  on_cpu = any (ismember ({'emulated', 'host'}, cellstr (row.backends)));
  needs = row.needs;
  if (isempty (needs))
    needs = {''};
  end
  if (! on_cpu || ! any (strcmp (row.problem, {'geinv', 'poinv', 'gesv', 'trsv', 'gemm'})) || any (strcmp ('nonzero_elements', cellstr (needs))))
    continue
  end
  for t = 1:2
    if (! any (strcmp (precisions{t}, cellstr (row.precisions))))
      continue
    end
    A = fit_matrix (34, types{t});
    b = cast (rand (34, 2), types{t});
    switch (row.problem)
      case {'geinv', 'poinv'}
        x = gaussweep_inv (A, row.id);
        y = inv (A);
      case 'gesv'
        x = gaussweep_solve (A, b, row.id);
        y = A \ b;
      case 'trsv'
        x = gaussweep_solve (triu (A), b, row.id);
        y = triu (A) \ b;
      case 'gemm'
        x = gaussweep_mtimes (A, b, row.id);
        y = A * b;
    end
    expect_close (x, y, '%s, %s', row.id, types{t});
    tested += 1;
  end
end
check (tested >= 20, 'only %d rows of the registry were tested', tested);

% Tests method parameters.
A = fit_matrix (40, 'double');
b = rand (40, 1);
expect_close (gaussweep_solve (A, b, 'gauss_block', 'threads', 8), A \ b, 'an integer parameter');
expect_close (gaussweep_solve (A, b, 'gauss_block', 'threads', int32 (8)), A \ b, 'an integer parameter of an integer class');
expect_close (gaussweep_solve (A, b, 'gauss_jordan_shared', 'tile', 32, 'backend', 'emulated'), A \ b, 'a choice, a backend');
expect_close (gaussweep_mtimes (A, b, '', 'backend', 'host'), A * b, 'the default method, a backend');

% An iterative method that stops early warns and still returns its answer.
lastwarn ('', '');
x = gaussweep_inv (A, 'gauss_seidel', 'max_iterations', 1);
[text, identifier] = lastwarn ();
check (strcmp (identifier, 'gaussweep:notConverged'), 'warning "%s": %s', identifier, text);
check (isequal (size (x), size (A)) && difference (x, inv (A)) > 1e-10, 'one iteration gives the inverse');
warning ('error', 'gaussweep:notConverged');
expect_error ('notConverged', 'did not converge', @gaussweep_inv, A, 'gauss_seidel', 'max_iterations', 1);

% Tests error messages, with the same cases for every call where possible.
calls_with_one_operand = {@gaussweep_inv, @(A) gaussweep_solve(A, 1), @(A) gaussweep_solve(1, A), @(A) gaussweep_mtimes(A, 1), @(A) gaussweep_mtimes(1, A)};
for f = calls_with_one_operand
  expect_error ('empty', 'is empty (0 x 0)', f{1}, []);
  expect_error ('empty', 'is empty (0 x 3)', f{1}, zeros (0, 3));
  expect_error ('complex', 'is complex', f{1}, 1 + 2i);
  expect_error ('sparse', 'is sparse', f{1}, sparse (1));
  expect_error ('sparse', 'is sparse', f{1}, sparse (true));
  expect_error ('type', 'of class int32', f{1}, int32 (1));
  expect_error ('type', 'of class logical', f{1}, true);
  expect_error ('type', 'of class char', f{1}, 'a');
  expect_error ('type', 'of class cell', f{1}, {1});
  expect_error ('type', 'of class struct', f{1}, struct ('a', 1));
  expect_error ('type', 'of class function_handle', f{1}, @sin);
  expect_error ('size', 'has 3 dimensions', f{1}, ones (2, 2, 2));
end
for f = {@gaussweep_inv, @gaussweep_solve, @gaussweep_mtimes}
  expect_error ('usage', ['usage: ' func2str(f{1})], f{1});
end
expect_error ('usage', 'usage: gaussweep_solve', @gaussweep_solve, 1);
expect_error ('usage', 'usage: gaussweep_mtimes', @gaussweep_mtimes, 1);
expect_error ('usage', 'gaussweep_inv, gaussweep_solve', @gaussweep_mex);
expect_error ('usage', 'gaussweep_inv, gaussweep_solve', @gaussweep_mex, 'nothing', 1);
expect_error ('usage', 'gaussweep_inv, gaussweep_solve', @gaussweep_mex, 1);
expect_error ('usage', 'usage: gaussweep_inv', @two_answers, 'inv', 1);
expect_error ('usage', 'must be a character array', @gaussweep_inv, 1, 7);
expect_error ('usage', 'must be a character array', @gaussweep_inv, 1, ['ab'; 'cd']);
expect_error ('nonSquare', 'A is 3 x 2, but must be square', @gaussweep_inv, ones (3, 2));
expect_error ('nonSquare', 'A is 2 x 3, but must be square', @gaussweep_solve, ones (2, 3), ones (2, 1));
expect_error ('size', 'A is 2 x 2 and b is 3 x 1', @gaussweep_solve, eye (2), ones (3, 1));
expect_error ('size', 'A is 2 x 3 and B is 2 x 3', @gaussweep_mtimes, ones (2, 3), ones (2, 3));
expect_error ('singular', 'A is singular', @gaussweep_inv, ones (3));
expect_error ('singular', 'A is singular', @gaussweep_inv, zeros (1, 1, 'single'));
expect_error ('singular', 'A is singular', @gaussweep_solve, ones (3), ones (3, 1));
expect_error ('singular', 'A is singular, or not strongly_regular, which gesv/crout needs', @gaussweep_solve, [0 1; 1 0], [1; 2], 'crout');
expect_close (gaussweep_solve ([0 1; 1 0], [1; 2], 'gauss_jordan_serial'), [2; 1], 'a pivot of 0 and an exchange');
expect_error ('singular', 'pivot 2', @gaussweep_solve, diag ([1 0 3]), ones (3, 1), 'trsv');
expect_error ('singular', 'pivot 2', @gaussweep_solve, diag ([1 0 3]), ones (3, 1), 'trsv/doubling');
expect_error ('notPositiveDefinite', 'not positive definite', @gaussweep_inv, [1 2; 2 1], 'poinv');
expect_error ('notSymmetric', 'not symmetric', @gaussweep_inv, [4 1; 2 4], 'poinv');
expect_error ('notTriangular', 'not triangular', @gaussweep_solve, ones (2), [1; 2], 'trsv');
expect_error ('unknownMethod', 'geinv/lapack, ', @gaussweep_inv, 1, 'magic');
expect_error ('unknownMethod', '''backend'' is no method', @gaussweep_inv, 1, 'backend', 'emulated');
expect_error ('unknownMethod', 'poinv/lapack', @gaussweep_inv, 1, 'gesv/lapack');
expect_error ('unknownMethod', 'gesv/lapack', @gaussweep_solve, 1, 1, 'gesv/');
expect_error ('unknownMethod', 'gemm/serial, ', @gaussweep_mtimes, 1, 1, 'lapack');
expect_error ('usage', '''threads'': allowed are integers from', @gaussweep_solve, 1, 1, 'gauss_block', 'threads', 1.5);
expect_error ('usage', '''threads'': allowed are integers from', @gaussweep_solve, 1, 1, 'gauss_block', 'threads', 'many');
expect_error ('usage', 'the value of threads must be', @gaussweep_solve, 1, 1, 'gauss_block', 'threads', [1 2]);
expect_error ('usage', 'the value of threads must be', @gaussweep_solve, 1, 1, 'gauss_block', 'threads', true);
expect_error ('usage', 'from 1 to 1073741824', @gaussweep_inv, 1, 'gauss_seidel', 'max_iterations', 0);
expect_error ('usage', 'threads has no value', @gaussweep_solve, 1, 1, 'gauss_block', 'threads');
expect_error ('usage', 'it has threads', @gaussweep_solve, 1, 1, 'gauss_block', 'thread', 1);
expect_error ('usage', 'allowed are 16, 32', @gaussweep_mtimes, 1, 1, 'shared', 'tile', 17);
expect_error ('usage', 'allowed: auto, cuda', @gaussweep_mtimes, 1, 1, '', 'backend', 'gpu');
expect_error ('device', 'does not run on the backend emulated', @gaussweep_mtimes, 1, 1, 'serial', 'backend', 'emulated');
expect_error ('device', 'does not run on the backend cuda', @gaussweep_mtimes, 1, 1, 'serial', 'backend', 'cuda');

% Compares with Soriano's filter2matrix and reconstruction. H f is a correlation; conv2 computes it with the
% flipped filter.
for h = {1, rand(3), rand(2), rand(4, 3), rand(5, 2), rand(7, 9)}
  for sizes = {[5 6 5 6], [4 7 6 3], [3 3 8 9], [1 1 2 2], [6 1 1 6]}
    s = num2cell (sizes{1});
    H = gaussweep_filter2matrix (h{1}, s{:});
    f = rand (s{1}, s{2});
    full_correlation = conv2 (f, rot90 (h{1}, 2));
    g = zeros (s{3}, s{4});
    centre = ceil (size (h{1}) / 2);
    for y = 1:s{3}
      for x = 1:s{4}
        index = [y x] + size (h{1}) - centre;
        if (all (index <= size (full_correlation)))
          g(y,x) = full_correlation(index(1), index(2));
        end
      end
    end
    check (norm (reshape (H * f'(:), s{4}, s{3})' - g, 'fro') < 1e-12, 'H of %d x %d, sizes %s', size (h{1}), mat2str (sizes{1}));
  end
end
check (isequal (gaussweep_filter2matrix (ones (3, 'single'), 4, 5), gaussweep_filter2matrix (ones (3, 'single'), 4, 5, 4, 5)), 'g is of the size of f');
check (isa (gaussweep_filter2matrix (ones (2, 'single'), 2, 2), 'single'), 'H has the class of h');
for h = {[0 1 0; 1 6 1; 0 1 0] / 10, [3 1; 1 1] / 6}
  f = rand (6, 5);
  H = gaussweep_filter2matrix (h{1}, 6, 5);
  g = reshape (H * f'(:), 5, 6)';
  expect_close (gaussweep_reconstruction (g, h{1}, 0.5), reshape ((H * H' + 0.5 * eye (30)) \ (H' * g'(:)), 5, 6)', 'reconstruction');
  expect_close (gaussweep_reconstruction (g, h{1}, 0.5, 'poinv/cholesky_gets', {'gemm/shared', 'tile', 32}), gaussweep_reconstruction (g, h{1}, 0.5), 'reconstruction by methods of the thesis');
  expect_close (gaussweep_reconstruction (single (g), h{1}, 0.5, 'geinv/gauss_jordan', 'direct'), single (gaussweep_reconstruction (g, h{1}, 0.5)), 'reconstruction in single');
end
h = [0 1 0; 1 6 1; 0 1 0] / 10;  % symmetric, so H H' = H' H
H = gaussweep_filter2matrix (h, 6, 5);
expect_close (gaussweep_reconstruction (reshape (H * f'(:), 5, 6)', h), f, 'without noise the image comes back');
expect_error ('usage', 'usage: gaussweep_filter2matrix', @gaussweep_filter2matrix, 1, 2);
expect_error ('size', 'rowsg must be a whole number from 1 on', @gaussweep_filter2matrix, 1, 2, 2, 1.5, 2);
expect_error ('size', 'colsf must be', @gaussweep_filter2matrix, 1, 2, NaN);
expect_error ('empty', 'h is empty', @gaussweep_filter2matrix, [], 2, 2);
expect_error ('type', 'h is of class int8', @gaussweep_filter2matrix, int8 (1), 2, 2);
expect_error ('complex', 'h is complex', @gaussweep_filter2matrix, 1i, 2, 2);
expect_error ('usage', 'usage: gaussweep_reconstruction', @gaussweep_reconstruction, 1);
expect_error ('usage', 'lambda must be a number from 0 on', @gaussweep_reconstruction, 1, 1, -1);
expect_error ('type', 'g is of class uint8', @gaussweep_reconstruction, uint8 (1), 1);
expect_error ('singular', 'A is singular', @gaussweep_reconstruction, ones (2), zeros (3));
expect_error ('unknownMethod', 'geinv/lapack, ', @gaussweep_reconstruction, ones (2), 1, 0, 'magic');

% Tests that 250 successful and failing calls leak no memory. A leak of one matrix per call would be 320 KB per call,
% or 80 MB in all.
A = fit_matrix (200, 'double');
singular = A;
singular(:,7) = 0;
for round = 1:2
  for i = 1:250
    gaussweep_inv (A);
    gaussweep_mtimes (single (A), A);
    try
      gaussweep_inv (singular);
    catch
    end
  end
  if (round == 1)
    before = resident ();  % after the first round, because libraries allocate on their first use
  end
end
check (resident () - before < 20000, 'memory grew by %d KB', resident () - before);

% The gateway still works after it was unloaded and loaded again.
clear gaussweep_mex
expect_close (gaussweep_inv (A), inv (A), 'after clear');
check (exist ('gaussweep_mex') == 3, 'gaussweep_mex is no MEX file');

printf ("gateway_test.m: %d checks, %d failed\n", checks, failures);
exit (failures > 0);
