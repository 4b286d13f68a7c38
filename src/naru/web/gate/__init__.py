"""The one gate before every face: who asks, from where, and whether they may."""
