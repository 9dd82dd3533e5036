"""Serves a small model with llama.cpp's own server, on a free port of the loopback.

Arguments: the model's file, the file to write the address into. It ends when its standard input does, so that it never
outlives whoever started it.
"""

import os
import sys

import xllamacpp

model, address_file = sys.argv[1:3]
params = xllamacpp.CommonParams()
params.model.path = model
params.model_alias = ["smollm2"]
params.n_ctx = 4096
params.n_parallel = 2
# Two threads wait for each other whenever anything else runs on the machine, and then are ten times as slow as one.
params.cpuparams.n_threads = int(os.environ.get("PARLANCE_ENGINE_THREADS", "1"))
params.hostnames = ["127.0.0.1"]
params.port = 0
params.endpoint_slots = True
params.endpoint_metrics = True
server = xllamacpp.Server(params)
with open(address_file + ".new", "w") as file:
    file.write(server.listening_address)
os.rename(address_file + ".new", address_file)
sys.stdin.read()
os._exit(0)
