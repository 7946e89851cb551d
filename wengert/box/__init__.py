"""What every traced value is: NumPy's protocols, and which op each NumPy function means.

    np.sin(box)        Box.__array_ufunc__         finds the op `sin` in UFUNCS                 the door: ops/op.call
    np.var(box)        Box.__array_function__      finds `var` in FUNCTIONS, written in ops     several ops
    box * 2            Box.__mul__                 the op `multiply`
    box[1:] = v        Box.__setitem__             the op `store`; whoever holds the array sees it

`box` is the class, `operators` and `attributes` are what its objects have besides functions; `abstract` are boxes
without a value. `dispatch` has the tables of which function means what, and `functions/` and `distributions/` fill
them, a file for each family of NumPy's and SciPy's functions.

Ufuncs: `options` (`out=`, `where=`, `dtype=`), `ufunc_methods` (`reduce`, `accumulate`, …). Functions that NumPy's
protocols do not hear of: `lists`; constructors such as `np.zeros`: `constructors`.

Writing in place: `writing` (views, versions, who sees what), `complex_views` (complex numbers seen as real ones),
`cells` (plain arrays that become traced when they are written to), `writers` (functions that write), `patterns`
(indices of indices), `memory` (how arrays lie, which decides what is a view).

Objects of users: `contents` (what they hold, and others like them), `withheld` (what a solver has left in them).

Arrays of other classes: `array_classes` and `results_of_classes` for those derived from NumPy's, `number_classes` for
numbers of classes derived from `float`; `subclasses` says which are refused, `foreign` what other libraries' objects
may hide.
"""

from wengert.box import functions  # whichever module of this folder is asked for, what functions mean is known

__all__ = ["functions"]
