"""The prismatic algorithm of Kawahara and Washio."""
