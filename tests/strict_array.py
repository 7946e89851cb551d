"""An array class as strict as CuPy's, for machines without a GPU.

`StrictArray` keeps its memory apart: it never becomes a NumPy array by itself, refuses NumPy arrays (also those of no
axes) beside it, has only the functions that CuPy has, with the options that CuPy has, and results of no axes stay
arrays. What goes to its memory or comes from there is counted: `transfers` are arrays, `reads` are numbers on which
Python decides something.

    with counted() as count: …; assert count.transfers == 0
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

_UFUNCS_TEXT = """
absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_or bitwise_xor bitwise_count
cbrt ceil conjugate copysign cos cosh deg2rad degrees divide divmod equal exp exp2 expm1 fabs float_power floor
floor_divide fmax fmin fmod frexp gcd greater greater_equal heaviside hypot invert isfinite isinf isnan lcm ldexp
left_shift less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor
matmul maximum minimum modf multiply negative nextafter not_equal positive power rad2deg radians reciprocal remainder
right_shift rint sign signbit sin sinh sqrt square subtract tan tanh trunc
"""
UFUNCS = frozenset(_UFUNCS_TEXT.split())
_FUNCTIONS_TEXT = """
all allclose amax amin angle any append apply_along_axis arange argmax argmin argpartition argsort argwhere around
array array_equal array_split asarray ascontiguousarray asfortranarray astype atleast_1d atleast_2d atleast_3d average
bincount broadcast_arrays broadcast_to choose clip column_stack compress concatenate convolve copy copyto corrcoef
correlate count_nonzero cov cross cumprod cumsum cumulative_prod cumulative_sum delete diag diag_indices diagflat
diagonal diff digitize dot dsplit dstack ediff1d einsum empty empty_like expand_dims eye fix flatnonzero flip fliplr
flipud full full_like gradient histogram hsplit hstack i0 identity imag indices inner interp isclose iscomplex
iscomplexobj isin isreal isrealobj kron lexsort linspace logspace matrix_transpose max may_share_memory mean median
meshgrid min moveaxis nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd
nansum nanvar nonzero ones ones_like outer pad partition percentile piecewise polyval prod ptp put putmask quantile
ravel ravel_multi_index real repeat reshape resize roll rollaxis rot90 round searchsorted select shape sinc size sort
split squeeze stack std sum swapaxes take take_along_axis tensordot tile trace transpose trapezoid tri tril triu unique
unravel_index unwrap vander var vdot vsplit vstack where zeros zeros_like linalg.matrix_power linalg.cholesky
roots linalg.qr linalg.svd linalg.eigh linalg.eig linalg.eigvalsh linalg.eigvals linalg.norm linalg.cond linalg.det
linalg.matrix_rank linalg.slogdet linalg.solve linalg.tensorsolve linalg.lstsq linalg.inv linalg.pinv linalg.tensorinv
fft.fft fft.fft2 fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ifftshift fft.ihfft fft.irfft
fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn fft.fftfreq fft.rfftfreq
"""
FUNCTIONS = frozenset(_FUNCTIONS_TEXT.split())
_REDUCTIONS = {"axis", "dtype", "out", "keepdims"}
OPTIONS: dict[str, set[str]] = {
    **dict.fromkeys(["sum", "prod", "nansum", "nanprod"], _REDUCTIONS),
    **{
        name: _REDUCTIONS - {"dtype"}
        for name in ["max", "min", "amax", "amin", "nanmax", "nanmin", "all", "any", "ptp"]
    },
    "mean": _REDUCTIONS,
    "argsort": {"axis", "kind"},
    "sort": {"axis", "kind"},
    "argpartition": {"axis", "kth"},
    "broadcast_to": set(),
    "clip": {"out"},
    "linalg.cholesky": set(),
    "linalg.svd": {"full_matrices", "compute_uv"},
    "linalg.eigh": {"UPLO"},
}
"""Which options CuPy's functions have, where they are fewer than NumPy's."""
_FROM_HOST = frozenset(("array", "asarray"))


@dataclass
class Count:
    """What went from one memory to the other."""

    transfers: int = 0
    reads: int = 0


_count = Count()


@contextmanager
def counted() -> Iterator[Count]:
    """Counts from here on."""
    _count.transfers = _count.reads = 0
    yield _count


_OWNERS: weakref.WeakValueDictionary[int, StrictArray] = weakref.WeakValueDictionary()
"""Whose memory it is: a view keeps the array alive that it belongs to, as CuPy's do."""


class Current:
    """On which of several devices memory is made now."""

    device = 0


class StrictArray:
    """An array in a memory of its own."""

    __array_priority__ = 100.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, memory: np.ndarray):
        assert isinstance(memory, np.ndarray)
        self._memory, self.device = memory, Current.device
        self.base = None if memory.base is None else _OWNERS.get(id(memory.base), memory.base)
        if self.base is None:
            _OWNERS[id(memory)] = self

    # ------------------------------------------------------------------------------------- to the host, and refusals

    def __array__(self, dtype: Any = None) -> Any:  # (without `copy`, as CuPy's: NumPy warns of it)
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")

    def get(self) -> np.ndarray:
        _count.transfers += 1
        return self._memory.copy()

    def item(self, *place: Any) -> Any:
        _count.reads += 1
        return self._memory.item(*place)

    def tolist(self) -> Any:
        return self.get().tolist()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        _count.reads += 1
        return self._memory.__index__()

    def __complex__(self) -> complex:
        return complex(self.item())

    def __bool__(self) -> bool:
        _count.reads += 1
        return bool(self._memory)

    # ---------------------------------------------------------------------------------------------------- attributes

    shape = property(lambda self: self._memory.shape)
    dtype = property(lambda self: self._memory.dtype)
    ndim = property(lambda self: self._memory.ndim)
    size = property(lambda self: self._memory.size)
    nbytes = property(lambda self: self._memory.nbytes)
    itemsize = property(lambda self: self._memory.itemsize)
    strides = property(lambda self: self._memory.strides)
    flags = property(lambda self: self._memory.flags)
    T = property(lambda self: StrictArray(self._memory.T))
    real = property(lambda self: StrictArray(self._memory.real))
    imag = property(lambda self: StrictArray(np.asarray(self._memory.imag)))

    def __len__(self) -> int:
        return len(self._memory)

    def __iter__(self) -> Iterator[StrictArray]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, idx: Any) -> StrictArray:
        place = _place(idx, self.shape)
        items = place if isinstance(place, tuple) else (place,)
        if all(_is_basic(item) and item is not Ellipsis for item in items):
            place = (*items, ...)  # an element is a view as well
        return _wrapped(self._memory[place])

    def __setitem__(self, idx: Any, v: Any) -> None:
        if isinstance(v, np.ndarray) and v.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        place, value = _place(idx, self.shape), v._memory if isinstance(v, StrictArray) else v
        if any(isinstance(item, (np.ndarray, list)) for item in (place if isinstance(place, tuple) else (place,))):
            _store_backwards(self._memory, place, value)
        else:
            self._memory[place] = value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        outs = kwargs.get("out") or ()
        for x in (*inputs, *outs):
            if not isinstance(x, (StrictArray, np.ndarray, np.generic, int, float, complex)):
                return NotImplemented
        if ufunc.__name__ not in UFUNCS or set(kwargs) - {"out", "dtype", "casting", "axis", "keepdims"}:
            return NotImplemented
        if method == "reduce" and ufunc not in (np.add, np.multiply):
            return NotImplemented
        if method not in ("__call__", "reduce", "outer"):
            return NotImplemented
        _refuse_numpy(inputs)
        if outs:
            kwargs["out"] = tuple(out._memory for out in outs)
            getattr(ufunc, method)(*_unwrapped(inputs), **kwargs)
            return outs[0] if len(outs) == 1 else outs
        return _wrapped(getattr(ufunc, method)(*_unwrapped(inputs), **kwargs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        module = function.__module__.partition(".")[2]
        name = f"{module}.{function.__name__}" if module else function.__name__
        if name not in FUNCTIONS or any(not issubclass(kind, (StrictArray, np.ndarray)) for kind in types):
            return NotImplemented
        if "device" in kwargs:
            raise TypeError(f"{name}() got an unexpected keyword argument 'device'")
        if name.endswith("_like") and kwargs.get("shape") == ():
            kwargs = kwargs | {"shape": args[0].shape}  # what CuPy does
        if name in OPTIONS and set(kwargs) - OPTIONS[name]:
            raise TypeError(f"{name}() got an unexpected keyword argument {sorted(set(kwargs) - OPTIONS[name])[0]!r}")
        if name in _FROM_HOST:
            _count.transfers += any(isinstance(a, np.ndarray) for a in args)
        else:
            _refuse_numpy([args, kwargs])
        if name == "roots":
            raise NotImplementedError("Only complex Hermitian and real symmetric 2d arrays are supported currently")
        if name == "linalg.solve" and args[1].ndim > 1 and args[0].shape[:-1] != args[1].shape[:-1]:
            raise ValueError("a must have (..., M, M) shape and b must have (..., M, K) for multidimensional b")
        if name == "where" and len(args) == 3 and not isinstance(args[0], (StrictArray, np.bool_)):
            raise AttributeError(f"'{type(args[0]).__name__}' object has no attribute 'astype'")
        return _wrapped(function(*_unwrapped(args), **_unwrapped(kwargs)))

    def __repr__(self) -> str:
        return f"StrictArray({self._memory!r})"


def _place(idx: Any, shape: tuple[int, ...]) -> Any:
    """An index: NumPy's arrays in it are copied to the array's memory, and places outside wrap around, as in CuPy."""
    items = idx if isinstance(idx, tuple) else (idx,)
    for item in items:
        _count.transfers += isinstance(item, (np.ndarray, list))
    items = [_unwrapped(item) for item in items]
    used = sum(_axes_named(item) for item in items)
    axis, found = 0, []
    for item in items:
        if isinstance(item, np.ndarray) and item.dtype.kind in "iu":
            item = item % shape[axis] if shape[axis] else item
        found.append(item)
        if item is Ellipsis:
            axis += len(shape) - used + 1  # (`...` was counted as one)
        else:
            axis += _axes_named(item)
    return tuple(found) if isinstance(idx, tuple) else found[0]


def _axes_named(item: Any) -> int:
    if isinstance(item, np.ndarray) and item.dtype.kind == "b":
        return item.ndim
    return item is not None


def _is_basic(item: Any) -> bool:
    return item is None or item is Ellipsis or isinstance(item, (int, np.integer, slice))


def _store_backwards(memory: np.ndarray, place: Any, value: Any) -> None:
    """Which of several values for one element is left cannot be told on a device: here it is the first."""
    cells = np.arange(memory.size).reshape(memory.shape)[place]
    value = np.asarray(value)
    value = np.broadcast_to(value.reshape(value.shape[max(value.ndim - cells.ndim, 0) :]), cells.shape)
    memory.flat[cells.ravel()[::-1]] = value.ravel()[::-1]


def _refuse_numpy(x: Any) -> None:
    if isinstance(x, np.ndarray):
        raise TypeError(f"Unsupported type {type(x)}")
    if isinstance(x, (tuple, list)):
        for item in x:
            _refuse_numpy(item)
    elif isinstance(x, dict):
        _refuse_numpy(list(x.values()))


def _unwrapped(x: Any) -> Any:
    if isinstance(x, StrictArray):
        return x._memory
    if isinstance(x, (tuple, list)):
        return type(x)(_unwrapped(item) for item in x)
    return {key: _unwrapped(value) for key, value in x.items()} if isinstance(x, dict) else x


def _wrapped(x: Any) -> Any:
    if isinstance(x, (np.ndarray, np.generic)):
        return StrictArray(np.asarray(x))
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*[_wrapped(item) for item in x])
    return type(x)(_wrapped(item) for item in x) if isinstance(x, (tuple, list)) else x


def _operators(ufunc: Any) -> tuple[Callable, Callable, Callable]:
    def in_place(self: StrictArray, other: Any) -> StrictArray:
        return ufunc(self, other, out=self)

    def forward(self: StrictArray, other: Any) -> Any:
        return NotImplemented if getattr(other, "__array_ufunc__", 0) is None else ufunc(self, other)

    def reflected(self: StrictArray, other: Any) -> Any:
        return NotImplemented if getattr(other, "__array_ufunc__", 0) is None else ufunc(other, self)

    return forward, reflected, in_place


for _name, _ufunc in [
    ("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("truediv", np.divide), ("pow", np.power),
    ("matmul", np.matmul), ("mod", np.remainder), ("floordiv", np.floor_divide), ("and", np.bitwise_and),
    ("or", np.bitwise_or), ("xor", np.bitwise_xor),
]:  # fmt: skip
    _forward, _reflected, _in_place = _operators(_ufunc)
    setattr(StrictArray, f"__{_name}__", _forward)
    setattr(StrictArray, f"__r{_name}__", _reflected)
    setattr(StrictArray, f"__i{_name}__", _in_place)
for _name, _ufunc in [("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal),
                      ("eq", np.equal), ("ne", np.not_equal)]:  # fmt: skip
    setattr(StrictArray, f"__{_name}__", _operators(_ufunc)[0])
for _name, _ufunc in [("neg", np.negative), ("pos", np.positive), ("abs", np.absolute), ("invert", np.invert)]:
    setattr(StrictArray, f"__{_name}__", lambda self, ufunc=_ufunc: ufunc(self))


def _method(name: str) -> Callable:
    def method(self: StrictArray, *args: Any, **kwargs: Any) -> Any:
        _refuse_numpy([args, kwargs])
        return _wrapped(getattr(self._memory, name)(*_unwrapped(args), **_unwrapped(kwargs)))

    return method


_METHODS = """
all any argmax argmin argsort astype clip conj copy cumprod cumsum diagonal dot fill flatten max mean min nonzero prod
ravel repeat reshape round squeeze std sum swapaxes take trace transpose var
"""
for _name in _METHODS.split():
    setattr(StrictArray, _name, _method(_name))


def strict(x: Any) -> StrictArray:
    """A copy in the other memory; not counted."""
    return StrictArray(np.array(x))


def host(x: Any) -> np.ndarray:
    """A copy in the host's memory; not counted."""
    assert isinstance(x, StrictArray), f"a {type(x).__name__}, not an array of the other memory"
    return x._memory.copy()
