"""Traced values in lists and tuples, in methods of plain arrays, and in objects that make arrays when subscripted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import wengert as wg

X = np.array([1.2, 0.7, 2.1])
A = np.array([[2.0, 0.3, 0.1], [0.2, 3.0, 0.4], [0.5, 0.1, 4.0]])
ONES = np.ones(3)


def _in_an_array_of_objects(x):
    a = np.empty(2, dtype=object)
    a[0] = x[0]
    a[1] = x
    return a[0] * a[1].sum()


# fmt: off
PROGRAMS = {
    "sum": lambda x: np.sum([x[0], x[1]**2]),
    "suml": lambda x: sum(np.sum([[x[0],1],[x[1],x[2]]],axis=1)),
    "max": lambda x: np.max([x[0],2*x[1]]),
    "min": lambda x: np.min((x[0],2*x[1])),
    "amax": lambda x: np.amax([x[0],2*x[1]]),
    "mean": lambda x: np.mean([x,x**2]),
    "median": lambda x: np.median([x[0],x[1],3.0]),
    "prod": lambda x: np.prod([x[0],x[1]]),
    "var": lambda x: np.var([x[0],x[1],5]),
    "std": lambda x: np.std([x[0],x[1],5.0]),
    "hypot": lambda x: np.hypot([x[0],1.0],[x[1],2.0]).sum(),
    "sin": lambda x: np.sin([x[0],x[1]]).sum(),
    "add": lambda x: np.add([x[0],1],[2,x[1]]).sum(),
    "maximum": lambda x: np.maximum([x[0],0],0.5).sum(),
    "diff": lambda x: np.diff([x[0],x[1],x[2]**2]).sum(),
    "dot": lambda x: np.dot([x[0],x[1]],[x[1],3.0]),
    "matmul": lambda x: np.matmul([[x[0],1],[2,x[1]]],[1.0,x[2]]).sum(),
    "inner": lambda x: np.inner([x[0],x[1]],[1,2]),
    "outer": lambda x: np.outer([x[0],x[1]],[1,x[2]]).sum(),
    "norm": lambda x: np.linalg.norm([x[0],x[1]]),
    "det": lambda x: np.linalg.det([[x[0],1.0],[0.5,x[1]]]),
    "inv": lambda x: np.linalg.inv([[x[0],1.0],[0.5,x[1]]]).sum(),
    "solve": lambda x: np.linalg.solve([[x[0],1.0],[0.5,x[1]]],[x[2],1.0]).sum(),
    "eigvals": lambda x: np.linalg.eigvalsh([[x[0],1.0],[1.0,x[1]]]).max(),
    "r_": lambda x: np.r_[x,x[0],1.0].prod(),
    "r2": lambda x: np.r_[0:3,x,[x[0],2]].sum(),
    "c_": lambda x: np.c_[x,x**2].sum(axis=0)[1],
    "c2": lambda x: np.c_[np.ones(3),x][:,1].sum(),
    "rneg": lambda x: np.r_['0,2',x,[1,2,3]].sum(axis=0)[0],
    "rm": lambda x: np.r_['1,2,0',x,x*x][:,1].sum(),
    "append": lambda x: np.append(x,[[x[0],2.0]]).sum(),
    "append2": lambda x: np.append([1.0,2.0],x).prod(),
    "adot": lambda x: ONES.dot(x*x),
    "adotm": lambda x: A.dot(x).sum(),
    "atake": lambda x: A.take([0,1]).sum()*x[0],
    "aclip": lambda x: A.clip(x[1],x[0]).sum(),
    "asum": lambda x: A.sum(where=np.array(x>1))*x[0],
    "asum2": lambda x: A.sum(initial=x[0]),
    "transpose": lambda x: np.transpose([x,x**2]).sum(axis=0)[1],
    "float64": lambda x: np.float64(x[0])*2,
    "c128": lambda x: np.complex128(x[0]).real*2,
    "arr": lambda x: np.array(x,copy=True).sum(),
    "arr2": lambda x: np.array(x,copy=None).sum(),
    "arr3": lambda x: np.array([x[0],x[1]],dtype=float).sum(),
    "arrT": lambda x: np.array([[x[0],1],[2,x[1]]],order="F",ndmin=3).sum(),
    "asarr": lambda x: np.asarray([x[0],2.0]).sum(),
    "asarr2": lambda x: np.asarray(x,dtype=np.float64).sum(),
    "astype": lambda x: x.astype(float).sum(),
    "astype2": lambda x: x.astype("f8",copy=False).sum(),
    "astype3": lambda x: x.astype(int).sum()*x[0],
    "astype4": lambda x: x.astype(np.complex128).real.sum(),
    "astype5": lambda x: x.astype("complex").imag.sum()+x[0],
    "hist": lambda x: (np.histogram([0.1,0.5,0.9],bins=2,weights=x)[0]*[1,2.0]).sum(),
    "hist2": lambda x: np.histogram(x,bins=[0,1,2,3.0],weights=x)[0].dot([1,2,3.0]),
    "bincount": lambda x: np.bincount([0,1,1],weights=x)[1],
    "histd": lambda x: np.histogram([0.1,0.5,0.9],bins=2,weights=x,density=True)[0][0],
    "hist2d": lambda x: np.histogram2d([0,1,1.],[0,1,0.],bins=2,weights=x)[0][1,1],
    "vectorize": lambda x: np.vectorize(lambda t: t**2 if t>1 else t)(x).sum(),
    "aal": lambda x: np.apply_along_axis(lambda v: v*v.sum(),0,np.outer(x,x)).sum(),
    "frompy": lambda x: np.frompyfunc(lambda t,u: t*u,2,1)(x,2.0).sum(),
    "piecewise": lambda x: np.piecewise(x,[x<1,x>=1],[lambda t: t**2, lambda t: 3*t]).sum(),
    "select": lambda x: np.select([x<1,x<2],[x,x**2],default=7.0).sum(),
    "select2": lambda x: np.select([x[0]<1,x[0]<2],[x[1],x[2]**2],x[0]),
    "fromiter": lambda x: np.fromiter((t**2 for t in x),float).sum(),
    "fromiter2": lambda x: np.fromiter([t**2 for t in x],dtype=float,count=3).sum(),
    "interp": lambda x: np.interp([0.5,1.5],[0,1,2.],x).sum(),
    "interp2": lambda x: np.interp(x,[0,1,2,3.0],[0,1,4,9.0]).sum(),
    "interp3": lambda x: np.interp(x[0],[0,1,2.],[x[0],x[1],x[2]]),
    "polyval": lambda x: np.polyval([x[0],x[1],1.0],2.0),
    "polyfit": lambda x: np.polyfit([0,1,2.],[x[0],x[1],x[2]],1).sum(),
    "cumsum": lambda x: np.cumsum([x[0],x[1]]).sum(),
    "trapz": lambda x: np.trapezoid([x[0],x[1]],[0,2.0]),
    "cross": lambda x: np.cross([x[0],x[1],1],[0,1,x[2]]).sum(),
    "concat": lambda x: np.concatenate([[x[0]],x,[1,x[1]]]).prod(),
    "hstack": lambda x: np.hstack([x[0],[x[1],2]]).sum(),
    "vstack": lambda x: np.vstack(([x[0],1],[2,x[1]])).sum(),
    "stackk": lambda x: np.stack([[x[0],1],[2,x[1]]]).sum(),
    "colst": lambda x: np.column_stack([[x[0],1],[2,x[1]]]).sum(),
    "block": lambda x: np.block([[x[0],1],[2,x[1]]]).sum(),
    "where": lambda x: np.where([True,False],[x[0],1],[2,x[1]]).sum(),
    "clip": lambda x: np.clip([x[0],x[1]],0.8,1.0).sum(),
    "sort": lambda x: np.sort([x[0],x[1],1.0])[0],
    "argsort": lambda x: x[np.argsort([x[0],x[1],x[2]])][0],
    "argmax": lambda x: x[np.argmax([x[0],x[1],x[2]])],
    "allclose": lambda x: np.allclose([x[0]],[x[0]])*x[1],
    "anyy": lambda x: np.any([x[0]>1,x[1]>5])*x[0],
    "isnan": lambda x: np.isnan([x[0],x[1]]).sum()+x[0],
    "diag": lambda x: np.diag([x[0],x[1]]).sum(),
    "roll": lambda x: np.roll([x[0],x[1]],1)[0],
    "flip": lambda x: np.flip([x[0],x[1]])[0],
    "tile": lambda x: np.tile([x[0],1],2).sum(),
    "repeat": lambda x: np.repeat([x[0],1],2).sum(),
    "reshape": lambda x: np.reshape([x[0],1,2,3],(2,2))[0,0],
    "ravel": lambda x: np.ravel([[x[0]],[1]])[0],
    "average": lambda x: np.average([x[0],x[1]],weights=[1,x[2]]),
    "einsum": lambda x: np.einsum('i,i',[x[0],x[1]],[1,2.]),
    "tensordot": lambda x: np.tensordot([x[0],x[1]],[1,2.],1),
    "kron": lambda x: np.kron([x[0],1],[x[1],2]).sum(),
    "linspace": lambda x: np.linspace(x[0],x[1],5).sum(),
    "linspace2": lambda x: np.linspace([x[0],1],[2,x[1]],3).sum(),
    "meshgrid": lambda x: np.meshgrid([x[0],1],[2,x[1]])[0].sum(),
    "mgrid": lambda x: np.mgrid[0:x[0]:5j].sum(),
    "mgrid2": lambda x: np.mgrid[0:x[0]:5j,0:1:3j][0].sum(),
    "ogrid": lambda x: np.ogrid[x[1]:x[0]:5j,0:2][0].sum(),
    "ix": lambda x: A[np.ix_([0,1],[1,2])].sum()*x[0],
    "ix2": lambda x: np.outer(x,x)[np.ix_([0,1],[1,2])].sum(),
    "cov": lambda x: np.cov([x[0],x[1],1.0]),
    "corr": lambda x: np.corrcoef([x[0],x[1],1.0],[1,2,x[2]])[0,1],
    "convolve": lambda x: np.convolve([x[0],x[1]],[1,2.]).sum(),
    "gradient": lambda x: np.gradient([x[0],x[1],x[2]]).sum(),
    "nansum": lambda x: np.nansum([x[0],np.nan]),
    "percentile": lambda x: np.percentile([x[0],x[1],x[2]],30),
    "quantile": lambda x: np.quantile([x[0],x[1],x[2]],[0.3,.6]).sum(),
    "logaddexp": lambda x: np.logaddexp.reduce([x[0],x[1]]),
    "addred": lambda x: np.add.reduce([x[0],x[1]]),
    "mulout": lambda x: np.multiply.outer([x[0],1],[x[1],2]).sum(),
    "addacc": lambda x: np.add.accumulate([x[0],x[1]]).sum(),
    "shapef": lambda x: np.shape([x[0],x[1]])[0]*x[0],
    "ndim": lambda x: np.ndim([x[0]])*x[0],
    "size": lambda x: np.size([x[0],1])*x[0],
    "fft": lambda x: np.abs(np.fft.fft([x[0],x[1],1.0])).sum(),
    "sp_erf": lambda x: scipy.special.erf([x[0],x[1]]).sum(),
    "sp_lse": lambda x: scipy.special.logsumexp([x[0],x[1]]),
    "sp_solve": lambda x: scipy.linalg.solve([[x[0],1.0],[0.5,x[1]]],[x[2],1.0]).sum(),
    "sp_expm": lambda x: scipy.linalg.expm([[x[0],1.0],[0.5,x[1]]]).sum(),
    "sp_softmax": lambda x: scipy.special.softmax([x[0],x[1]])[0],
    "sp_gamma": lambda x: scipy.special.gamma([x[0],2.0]).sum(),
    "fullt": lambda x: np.full(3,x[0]).sum(),
    "full_like": lambda x: np.full_like(A,x[0]).sum(),
    "zl": lambda x: (np.zeros_like([x[0],1])+x[0]).sum(),
    "ol": lambda x: (np.ones_like(x)*x).sum(),
    "absl": lambda x: np.abs([x[0],-x[1]]).sum(),
    "roundl": lambda x: np.round([x[0],x[1]]).sum()+x[0],
    "copyl": lambda x: np.copy([x[0],x[1]]).sum(),
    "insert": lambda x: np.insert([1.0,2.0],1,x[0]).sum(),
    "delete": lambda x: np.delete([x[0],x[1]],0).sum(),
    "searchs": lambda x: np.searchsorted([0.,1,2],[x[0],x[1]]).sum()+x[0],
    "digit": lambda x: np.digitize([x[0],x[1]],[0.,1,2]).sum()+x[0],
    "bcast": lambda x: np.broadcast_to([x[0],1],(2,2)).sum(),
    "atl": lambda x: np.atleast_2d([x[0],1]).sum(),
    "squeeze": lambda x: np.squeeze([[x[0],1]]).sum(),
    "expand": lambda x: np.expand_dims([x[0],1],0).sum(),
    "swap": lambda x: np.swapaxes([[x[0],1],[2,3]],0,1)[0,0],
    "take": lambda x: np.take([x[0],x[1]],[0,0]).sum(),
    "choose": lambda x: np.choose([0,1],[[x[0],1],[2,x[1]]]).sum(),
    "compress": lambda x: np.compress([True,False],[x[0],1]).sum(),
    "pad": lambda x: np.pad([x[0],1],1).sum(),
    "tril": lambda x: np.tril([[x[0],1],[2,3]]).sum(),
    "trace": lambda x: np.trace([[x[0],1],[2,x[1]]]),
    "vander": lambda x: np.vander([x[0],x[1]]).sum(),
    "lexs": lambda x: x[np.lexsort(([x[0],x[1],x[2]],))][0],
    "matpow": lambda x: np.linalg.matrix_power([[x[0],1],[0,x[1]]],3).sum(),
    "qr": lambda x: np.abs(np.linalg.qr([[x[0],1],[2,x[1]]])[1]).sum(),
    "multi": lambda x: np.linalg.multi_dot([[[x[0],1],[2,3]],[1,x[1]]]).sum(),
    "chol": lambda x: np.linalg.cholesky([[x[0]+2,1],[1,x[1]+3]]).sum(),
    "npf": lambda x: np.float64(2.0)*x[0],
    "asearch": lambda x: np.array([0.,1,2]).searchsorted(x).sum()*x[0],
    "achoose": lambda x: np.array([0,1]).choose([[x[0],1],[2,x[1]]]).sum(),
    "arep": lambda x: A.repeat(2).sum()*x[0],
    "acompress": lambda x: A[0].compress(np.array(x)>1).sum()*x[0],
    "around": lambda x: A.round().sum()*x[0],
    "amax2": lambda x: A.max(initial=5*x[0]),
    "amean": lambda x: A.mean(where=x>1)*x[0],
    "atrace": lambda x: A.trace()*x[0],
    "isclose": lambda x: np.isclose(x,[1.2,0,0]).sum()+x[0],
    "array_eq": lambda x: np.array_equal(x,x)*x[0],
    "listx": lambda x: np.sum(list(x)),
    "comp": lambda x: np.mean([t**2 for t in x]),
    "mapp": lambda x: np.sum(list(map(np.square, x))),
    "dictv": lambda x: np.sum([*{"a":x[0],"b":x[1]}.values()]),
    "polyc": lambda x: np.polynomial.polynomial.polyval(2.0,[x[0],x[1]]),
    "poly1d": lambda x: np.poly1d([x[0],x[1]])(2.0),
    "polymul": lambda x: np.polymul([x[0],1],[1,x[1]]).sum(),
}
EAGER = {
    "emath": lambda x: np.emath.sqrt(x).sum(),
    "emath2": lambda x: np.emath.sqrt(-x).imag.sum(),
    "emlog": lambda x: np.emath.log(-x).real.sum(),
    "scimath": lambda x: np.lib.scimath.log(x).sum(),
    "empow": lambda x: np.emath.power(x,2).sum(),
    "emlogn": lambda x: np.emath.logn(2,x).sum(),
    "assertc": lambda x: (np.testing.assert_allclose(x,x), x.sum())[1],
    "asserta": lambda x: (np.testing.assert_array_equal(x,x), x.sum())[1],
    "asserte": lambda x: (np.testing.assert_almost_equal(x,x), x.sum())[1],
    "a2s": lambda x: (np.array2string(x), x.sum())[1],
    "a2r": lambda x: (np.array_repr(x), x.sum())[1],
    "obj": lambda x: np.array([x[0],None],dtype=object)[0]*2,
    "obj2": lambda x: np.array([x[0],x[1]],dtype=object).sum(),
    "objempty": lambda x: _in_an_array_of_objects(x),
    "lstsq": lambda x: np.linalg.lstsq([[x[0],1],[1,2],[3,x[1]]],[1,2,x[2]],rcond=None)[0].sum(),
    "roots": lambda x: np.roots([1,-3*x[0],x[1]]).real.sum(),
}
# fmt: on
"""What asks about values, or makes its type depend on them, is refused in compiled functions."""


def _differences(f: Any) -> np.ndarray:
    return np.array([(f(X + d) - f(X - d)) / 2e-6 for d in np.eye(3) * 1e-6])


@pytest.mark.parametrize("name", [*PROGRAMS, *EAGER])
def test_eagerly(name: str) -> None:
    f = {**PROGRAMS, **EAGER}[name]
    expected = _differences(f)
    np.testing.assert_allclose(wg.grad(f)(X), expected, rtol=1e-4, atol=1e-6)
    value, dot = wg.jvp(f, (X,), (X,))
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(dot, expected @ X, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("group", range(6))
def test_compiled(group: int) -> None:
    programs = list(PROGRAMS.values())[group::6]

    def several(x):
        return tuple([f(x) for f in programs])

    jacobian = wg.jit(wg.jacrev(several))(X)
    for name, f, value, row in zip(list(PROGRAMS)[group::6], programs, wg.jit(several)(X), jacobian, strict=True):
        np.testing.assert_allclose(value, f(X), rtol=1e-11, err_msg=name)
        np.testing.assert_allclose(row, _differences(f), rtol=1e-4, atol=1e-6, err_msg=name)


def test_numbers_of_other_types() -> None:
    for kind in (np.float32, np.single, np.float16, np.float64, np.complex64):
        found = wg.jvp(lambda x, kind=kind: kind(x[0]) * 2, (X,), (np.ones(3),))
        plain = kind(X[0]) * 2
        assert found[0] == plain
        assert np.asarray(found[0]).dtype == plain.dtype
        np.testing.assert_allclose(found[1], 2.0)
    assert wg.jit(lambda x: np.int32(x[0]) * x[1])(X) == X[1]
    np.testing.assert_array_equal(wg.grad(lambda x: np.int32(x[0]) * x[1])(X), np.eye(3)[1])
    assert wg.jit(lambda x: np.float32(x))(X).dtype == np.float32


def test_a_plain_array_is_not_written_to_by_a_method() -> None:
    def f(x):
        A.fill(x[0])
        return x[0]

    with pytest.raises(wg.errors.InPlaceError, match="fill"):
        wg.grad(f)(X)


def test_questions_with_options_compile() -> None:
    edges = np.array([0.0, 1.2, 2.0])
    for side in ("left", "right"):
        found = wg.jit(lambda x, side=side: np.searchsorted(edges, x, side=side))(X)
        assert found.tolist() == np.searchsorted(edges, X, side=side).tolist()


def test_answers_of_a_length_that_depends_on_values_compile() -> None:
    f = wg.jit(lambda x: np.sum(np.unique(np.round(x)) ** 2))
    for x in ([1.0, 1.2, 3.0], [1.0, 2.2, 3.0], [1.0, 1.0, 1.0]):
        assert f(np.array(x)) == np.sum(np.unique(np.round(x)) ** 2)
    g = wg.jit(lambda x: np.sum(A[0].compress(x > 1)))
    for x in ([1.5, 0.5, 3.0], [0.0, 0.0, 0.0], [2.0, 2.0, 2.0]):
        np.testing.assert_allclose(g(np.array(x)), np.sum(A[0].compress(np.array(x) > 1)))


REFUSED = {
    "assert_allclose": lambda x: np.testing.assert_allclose(x, x),
    "np.r_": lambda x: np.r_[0 : x[0], x].sum(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_named(name: str) -> None:
    with pytest.raises(wg.errors.WengertError, match=name.replace(".", r"\.")):
        wg.jit(REFUSED[name])(X)
