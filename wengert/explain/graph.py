"""stub"""
class Graph: pass
def graph_of(t, fold): pass
