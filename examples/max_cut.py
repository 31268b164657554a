"""
A maximum cut, proved
=====================

The vertices of a graph in two parts so that as many edges as possible run between them. Node names of networkx come
back in the result.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import dsprog as ds
from dsprog.applications import max_cut

graph = nx.karate_club_graph()
graph = nx.relabel_nodes(nx.Graph(graph.edges), {k: f"m{k}" for k in graph})
result = ds.minimize(max_cut(graph))
print(f"{-result.value:.0f} of {graph.number_of_edges()} edges are cut; certified: {result.certified}")
print("one side:", ", ".join(result.labels))

side = set(result.labels)
places = nx.spring_layout(graph, seed=1)
figure, axis = plt.subplots(figsize=(7, 5), layout="constrained")
cut = [edge for edge in graph.edges if (edge[0] in side) != (edge[1] in side)]
nx.draw_networkx_edges(graph, places, ax=axis, edge_color="0.9")
nx.draw_networkx_edges(graph, places, cut, ax=axis, edge_color="0.6")
colours = np.where([node in side for node in graph], "#D55E00", "#0072B2")
nx.draw_networkx_nodes(graph, places, ax=axis, node_color=colours, node_size=90)
axis.axis("off")
plt.show()
