"""The borders of native code: how Python and C call it, how it calls back, what it says when something goes wrong."""
