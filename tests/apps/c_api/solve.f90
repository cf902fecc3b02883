! Solves 2 x2 = 6, 4 x1 + 2 x2 = 8 by gaussweep_dgesv, emulated on the CPU.
program solve
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function gaussweep_create(handle, device) bind(c)
      import :: c_ptr, c_int
      type(c_ptr), intent(out) :: handle
      integer(c_int), value :: device
    end function
    subroutine gaussweep_destroy(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine
    integer(c_int) function gaussweep_dgesv_work(handle, n, nrhs, batch, bytes) bind(c)
      import :: c_ptr, c_int, c_int64_t, c_size_t
      type(c_ptr), value :: handle
      integer(c_int64_t), value :: n, nrhs, batch
      integer(c_size_t), intent(out) :: bytes
    end function
    integer(c_int) function gaussweep_dgesv(handle, n, nrhs, a, lda, b, ldb, info, batch, work, bytes) bind(c)
      import :: c_ptr, c_int, c_int64_t, c_size_t, c_double, c_signed_char
      type(c_ptr), value :: handle
      integer(c_int64_t), value :: n, nrhs, lda, ldb, batch
      real(c_double), intent(inout) :: a(*), b(*)
      integer(c_int), intent(out) :: info(*)
      integer(c_signed_char), intent(inout) :: work(*)
      integer(c_size_t), value :: bytes
    end function
  end interface
  type(c_ptr) :: handle
  integer(c_size_t) :: bytes
  integer(c_signed_char), allocatable :: work(:)
  integer(c_int) :: info(1)
  real(c_double) :: a(4) = [0d0, 4d0, 2d0, 2d0], b(2) = [6d0, 8d0]

  if (gaussweep_create(handle, -1) /= 0) error stop 'gaussweep_create'
  if (gaussweep_dgesv_work(handle, 2_c_int64_t, 1_c_int64_t, 1_c_int64_t, bytes) /= 0) error stop 'gaussweep_dgesv_work'
  allocate(work(bytes))
  if (gaussweep_dgesv(handle, 2_c_int64_t, 1_c_int64_t, a, 2_c_int64_t, b, 2_c_int64_t, info, 1_c_int64_t, work, &
                      bytes) /= 0) error stop 'gaussweep_dgesv'
  call gaussweep_destroy(handle)
  print '(a, i0, a, f0.1, a, f0.1)', 'info ', info(1), ', x = ', b(1), ' ', b(2)
end program
