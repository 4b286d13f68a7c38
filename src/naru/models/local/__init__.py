"""The local engine: llama.cpp in a child process, and the weights it loads."""
