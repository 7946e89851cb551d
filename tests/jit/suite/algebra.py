"""Linear algebra by loops."""

import numpy as np
from jit.programs import definite, dominant, program, random, values

N = 6


@program(definite(N))
def cholesky(A):
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


@program(definite(N))
def cholesky_by_elements(a):
    n = len(a)
    l = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i][j]
            for k in range(j):
                s -= l[i][k] * l[j][k]
            if i == j:
                l[i][j] = s**0.5
            else:
                l[i][j] = s / l[j][j]
    return l


@program(definite(N))
def cholesky_by_columns(A):
    n = A.shape[0]
    L = A.copy()
    for k in range(n):
        L[k, k] = np.sqrt(L[k, k])
        L[k + 1 :, k] /= L[k, k]
        for j in range(k + 1, n):
            L[j:, j] -= L[j:, k] * L[j, k]
    return np.tril(L)


@program(dominant(N))
def lu(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]


@program(dominant(N))
def lu_outer(a):
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


@program(random(N, N), second=False, batch=False)
def lu_pivoted(a):
    n = a.shape[0]
    a = a.copy()
    order = np.arange(n)
    sign = 1.0
    for k in range(n - 1):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            for j in range(n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
            order[k], order[p] = order[p], order[k]
            sign = -sign
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a, order, sign


@program(random(N, N), random(N), wrt=(0, 1), second=False, batch=False)
def gauss_with_row_swaps(A, b):
    A, b = np.array(A), np.array(b)
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        A[[k, p]] = A[[p, k]]
        b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            A[i, k:] -= m * A[k, k:]
            b[i] -= m * b[k]
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


@program(dominant(N), random(N), wrt=(0, 1))
def forward_substitution(L, b):
    x = np.zeros(b.shape)
    for i in range(x.size):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


@program(dominant(N), random(N), wrt=(0, 1))
def back_substitution_by_elements(U, b):
    n = b.shape[0]
    x = np.empty(n)
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s -= U[i, j] * x[j]
        x[i] = s / U[i, i]
    return x


@program(dominant(N))
def gram_schmidt(A):
    m, n = A.shape
    Q = np.zeros((m, n))
    R = np.zeros((n, n))
    for k in range(n):
        nrm = np.dot(A[:, k], A[:, k])
        R[k, k] = np.sqrt(nrm)
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return Q, R


@program(random(N))
def durbin(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


@program(np.array([3.0, 0.7, -0.4, 0.3, 0.2, 0.1]))
def levinson(r):
    n = len(r) - 1
    a = np.zeros(n + 1)
    a[0] = 1.0
    e = r[0]
    for i in range(1, n + 1):
        k = r[i] + np.dot(a[1:i], r[i - 1 : 0 : -1])
        k = -k / e
        a[1:i] = a[1:i] + k * a[i - 1 : 0 : -1]
        a[i] = k
        e *= 1.0 - k * k
    return a, e


@program(random(8))
def reversed_prefixes(x):
    s = 0.0
    for i in range(1, len(x)):
        s += np.dot(x[i - 1 :: -1], x[:i])
    return s


@program(random(5, 6), random(6, 7, seed=1), random(5, 7, seed=2), wrt=(0, 1, 2))
def gemm_by_loops(A, B, C):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            s = 0.0
            for k in range(A.shape[1]):
                s += A[i, k] * B[k, j]
            C[i, j] = 0.5 * C[i, j] + 1.5 * s


@program(random(6, 6), random(6, 5), wrt=(0, 1))
def trmm(A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= 1.5


@program(random(6, 6), random(6, 5), wrt=(0, 1))
def symm(A, B):
    C = np.zeros(B.shape)
    temp2 = np.empty((C.shape[1],), dtype=C.dtype)
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += 1.5 * B[i, j] * A[i, :i]
            temp2[j] = B[:i, j] @ A[i, :i]
        C[i, :] += 1.5 * B[i, :] * A[i, i] + 1.5 * temp2
    return C


@program(random(7, 5))
def covariance(data):
    mean = np.mean(data, axis=0)
    data -= mean
    n = data.shape[1]
    cov = np.zeros((n, n))
    for i in range(n):
        cov[i:n, i] = cov[i, i:n] = data[:, i] @ data[:, i:n] / (data.shape[0] - 1.0)
    return cov


@program(dominant(N), random(N), wrt=(0, 1))
def gauss_seidel(A, b):
    x = np.zeros_like(b)
    for _ in range(6):
        for i in range(len(b)):
            s = b[i]
            for j in range(len(b)):
                if j != i:
                    s -= A[i, j] * x[j]
            x[i] = s / A[i, i]
    return x


@program(definite(N), random(N), second=False, wrt=(0, 1))
def conjugate_gradients(A, b):
    x = np.zeros(len(b))
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    for _ in range(5):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
    return x


@program(definite(N), random(N), wrt=(0, 1), second=False, batch=False)
def conjugate_gradients_until(A, b):
    x = np.zeros(len(b))
    r = b.copy()
    p = r.copy()
    k = 0
    while np.linalg.norm(r) > 1e-6:
        alpha = r @ r / (p @ A @ p)
        x = x + alpha * p
        after = r - alpha * (A @ p)
        p = after + (after @ after) / (r @ r) * p
        r = after
        k += 1
    return x, k


@program(definite(5), second=False)
def power_iteration(A):
    v = np.ones(A.shape[0])
    for _ in range(12):
        v = A @ v
        v /= np.linalg.norm(v)
    return v @ A @ v


@program(random(8), random(8, seed=1) + 4, random(8, seed=2), random(8, seed=3), wrt=(0, 1, 2, 3))
def thomas(a, b, c, d):
    n = len(d)
    cp, dp = np.zeros(n), np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


@program(random(9), np.array([0, 2, 5, 5, 7, 9]), np.array([0, 3, 1, 2, 4, 0, 1, 3, 4]), random(5), wrt=(0, 3))
def spmv(data, indptr, indices, x):
    y = np.zeros(len(indptr) - 1)
    for i in range(len(y)):
        for k in range(indptr[i], indptr[i + 1]):
            y[i] += data[k] * x[indices[k]]
    return y


@program(random(9), np.array([0, 2, 5, 5, 7, 9]), np.array([0, 3, 1, 2, 4, 0, 1, 3, 4]), random(5), wrt=(0, 3))
def spmv_by_rows(data, indptr, indices, x):
    y = np.empty(indptr.size - 1)
    for i in range(indptr.size - 1):
        cols = indices[indptr[i] : indptr[i + 1]]
        vals = data[indptr[i] : indptr[i + 1]]
        y[i] = vals @ x[cols]
    return y


@program(random(4, 4), second=False)
def determinant_by_minors(a):
    def det(m, rows, cols):
        if len(rows) == 1:
            return m[rows[0], cols[0]]
        total = 0.0
        for k, c in enumerate(cols):
            rest = [other for other in cols if other != c]
            total = total + (-1) ** k * m[rows[0], c] * det(m, rows[1:], rest)
        return total

    return det(a, [0, 1, 2, 3], [0, 1, 2, 3])


@program(dominant(4), random(4), wrt=(0, 1))
def library_calls(A, b):
    x = np.linalg.solve(A, b)
    return np.linalg.det(A) + x @ x + np.trace(np.linalg.inv(A)) + np.einsum("ij,i,j->", A, b, x)


@values(random(5, 5))
def floyd_warshall(path):
    path = np.abs(path) + 0.1
    n = path.shape[0]
    for k in range(n):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))
    return path


@program(random(6, 6) + 2.0, second=False, batch=False)
def floyd_warshall_by_elements(path):
    n = path.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if path[i, k] + path[k, j] < path[i, j]:
                    path[i, j] = path[i, k] + path[k, j]


@program(random(6, 6), second=False)
def householder(A):
    m, n = A.shape
    R = A.copy()
    for k in range(n - 1):
        x = R[k:, k].copy()
        s = np.sqrt(np.sum(x**2))
        if x[0] < 0:
            s = -s
        x[0] += s
        x /= np.sqrt(x @ x)
        R[k:, k:] -= 2.0 * np.outer(x, x @ R[k:, k:])
    return R


@program(definite(4), second=False, batch=False)
def jacobi_eigenvalues(A):
    n = len(A)
    for _ in range(6):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if A[p, q] == 0.0:
                    continue
                theta = 0.5 * np.arctan2(2 * A[p, q], A[q, q] - A[p, p])
                c, s = np.cos(theta), np.sin(theta)
                rows_p, rows_q = A[p].copy(), A[q].copy()
                A[p] = c * rows_p - s * rows_q
                A[q] = s * rows_p + c * rows_q
                cols_p, cols_q = A[:, p].copy(), A[:, q].copy()
                A[:, p] = c * cols_p - s * cols_q
                A[:, q] = s * cols_p + c * cols_q
    return np.diag(A)
