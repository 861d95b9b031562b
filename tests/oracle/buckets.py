#!/usr/bin/env python3
"""Puts stores into buckets of servers that others have written, whole and in parts, and compares them with folders.

usage: buckets.py BINARY SERVER [--rounds 4] [--seed 1]

BINARY is built with --features remote. SERVER is `moto` (from pip: "moto[server]"), a path of `s3s-fs` (from cargo: cargo
install s3s-fs --features binary), which checks every signature, or the URL of any other server of S3, which is given a new
bucket and asked with the usual variables.

Of each command the objects of the bucket must be, byte for byte, the files that the same command makes in a folder, and
nothing may be left beside them. Then the store is made in 16 parts by 16 processes at once; some of them are killed after a
random time, some run twice; --finish must name what is missing until all is there, and give the store of the folder. A wrong
key must be refused in one line in which no key stands, where the server checks it.

Exit status 0 if all of this holds.
"""
import argparse
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

KEY, SECRET = "AKIATENSOROPORACLE00", "a/secret+that/nobody/may+see/0123456789abc"
COMMANDS = [
    "convert data.npy -o OUT --chunks 10,30",
    "convert data.npy -o OUT --chunks 10,30 --codec none",
    "convert data.npy -o OUT --chunks 10,15 --shards 50,30",
    "slice store.zarr --at ::-1,3:70:2 -o OUT",
    "transpose store.zarr -o OUT",
    "convert a=data.npy g/b=store.zarr -o OUT --chunks 50,50",
    "convert zeros.npy -o OUT --chunks 10,30",
    "concat store.zarr data.npy -o OUT",
]


def fail(message):
    sys.exit(f"buckets.py: {message}")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Server:
    """A server with an empty bucket, which ends with the script."""

    def __init__(self, name, folder):
        self.process = None
        self.checks_keys = False
        if name.startswith(("http://", "https://")):
            self.url = name
        else:
            port = free_port()
            self.url = f"http://127.0.0.1:{port}"
            if name == "moto":
                command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
            else:
                self.checks_keys = True
                root = os.path.join(folder, "objects")
                os.mkdir(root)
                keys = ["--access-key", KEY, "--secret-key", SECRET]
                command = [name, "--host", "127.0.0.1", "--port", str(port), *keys, root]
            log = open(os.path.join(folder, "server.log"), "w")
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
            self.wait(port)

    def wait(self, port):
        for _ in range(200):
            if self.process.poll() is not None:
                fail("the server has ended")
            with socket.socket() as found:
                if found.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        fail("the server does not listen")

    def client(self):
        import boto3
        from botocore.config import Config

        keys = {"aws_access_key_id": KEY, "aws_secret_access_key": SECRET} if self.process else {}
        config = Config(s3={"addressing_style": "path"})
        return boto3.client("s3", endpoint_url=self.url, region_name="us-east-1", config=config, **keys)


class Race:
    def __init__(self, options, folder):
        self.binary = os.path.abspath(options.binary)
        self.folder = folder
        self.random = random.Random(options.seed)
        self.server = Server(options.server, folder)
        self.s3 = self.server.client()
        self.bucket = f"tensorop-{os.getpid()}"
        self.s3.create_bucket(Bucket=self.bucket)

    def environment(self, secret=SECRET):
        own = dict(os.environ, AWS_ENDPOINT_URL_S3=self.server.url, AWS_REGION="us-east-1")
        if self.server.process:
            own.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=secret)
        return own

    def start(self, words, **more):
        command = [self.binary, *words.split()]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(command, cwd=self.folder, env=self.environment(**more), **pipes)

    def run(self, words, **more):
        process = self.start(words, **more)
        text, _ = process.communicate()
        if SECRET in text or "X-Amz-Signature" in text:
            fail(f"{words}: prints a secret: {text}")
        return process.returncode, text

    def expect(self, words, status, text=""):
        found = self.run(words)
        if found != (status, text):
            fail(f"{words}: {found}, expected {(status, text)}")

    def objects(self, prefix):
        found = {}
        for page in self.s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix):
            for item in page.get("Contents", []):
                body = self.s3.get_object(Bucket=self.bucket, Key=item["Key"])["Body"].read()
                found[item["Key"].removeprefix(prefix)] = body
        return found

    def files(self, name):
        found = {}
        top = os.path.join(self.folder, name)
        for folder, _, names in os.walk(top):
            for file in names:
                path = os.path.join(folder, file)
                with open(path, "rb") as opened:
                    found[os.path.relpath(path, top)] = opened.read()
        return found

    def compare(self, words, prefix, expected):
        found = self.objects(prefix)
        wanted = {f"x.zarr/{name}": items for name, items in expected.items()}
        if found != wanted:
            differing = sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))
            fail(f"{words}: other objects than the files of the folder: {differing[:8]}")


def make_operands(folder, run):
    items = b"".join((n * 2654435761 % 2**32).to_bytes(4, "little") for n in range(7500))
    for name, content in [("data", items), ("zeros", bytes(30000))]:
        with open(os.path.join(folder, f"{name}.bin"), "wb") as file:
            file.write(content)
        run(f"convert {name}.bin:<u4[100,75] -o {name}.npy")
    run("convert data.npy -o store.zarr --chunks 10,30")


def whole(race, number, command):
    """Puts a store twice, the second time in the place of the first, and reads it back."""
    shutil.rmtree(os.path.join(race.folder, "expected.zarr"), ignore_errors=True)
    race.expect(command.replace("OUT", "expected.zarr"), 0)
    expected = race.files("expected.zarr")
    prefix = f"whole {number}/"
    address = f"s3://{race.bucket}/whole%{number}".replace("%", " ")
    words = command.replace("OUT", f"{address}/x.zarr")
    for _ in range(2):
        # an address with a blank in it is one word
        process = [race.binary, *(word.replace("\0", " ") for word in words.replace(address, address.replace(" ", "\0")).split())]
        done = subprocess.run(process, cwd=race.folder, env=race.environment(), capture_output=True, text=True)
        if done.returncode != 0 or done.stdout or done.stderr:
            fail(f"{words}: {done}")
        race.compare(words, prefix, expected)
    return expected


def parts(race, number, command, expected):
    """Makes a store by 16 processes at once, of which some are killed and some run twice."""
    prefix = f"parts{number}/"
    words = command.replace("OUT", f"s3://{race.bucket}/{prefix}x.zarr")
    numbers = [*range(1, 17), *race.random.sample(range(1, 17), 5)]
    race.random.shuffle(numbers)
    running = [(part, race.start(f"{words} --part {part}/16")) for part in numbers]
    killed = 0
    for part, process in race.random.sample(running, 6):
        time.sleep(race.random.random() * 0.1)
        process.kill()
    for part, process in running:
        text, _ = process.communicate()
        if process.returncode == -9:
            killed += 1
        elif process.returncode != 0:
            fail(f"{words} --part {part}/16: {process.returncode}: {text}")
    status, missing = race.run(f"{words} --finish 16")
    if status == 1:
        if not re.fullmatch(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*\n", missing):
            fail(f"{words} --finish 16: {missing}")
        if "x.zarr/zarr.json" in race.objects(prefix):
            fail(f"{words}: a store before all parts are there")
        spans = [span.split("-") for span in missing.strip().split(",")]
        for part in [n for span in spans for n in range(int(span[0]), int(span[-1]) + 1)]:
            race.expect(f"{words} --part {part}/16", 0)
        race.expect(f"{words} --finish 16", 0)
    elif status != 0:
        fail(f"{words} --finish 16: {status}: {missing}")
    race.expect(f"{words} --finish 16", 0)
    race.expect(f"{words} --part {numbers[0]}/16", 0)
    race.compare(words, prefix, expected)
    return killed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("server")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        race = Race(options, folder)
        try:
            make_operands(folder, lambda words: race.expect(words, 0))
            killed = 0
            for number, command in enumerate(COMMANDS):
                expected = whole(race, number, command)
                for again in range(options.rounds):
                    killed += parts(race, f"{number}-{again}", command, expected)
            race.expect(f"diff data.npy s3://{race.bucket}/parts0-0/x.zarr", 0, "equal: 7500 items of uint32 [100, 75]\n")
            if race.server.checks_keys:
                status, text = race.run(f"info s3://{race.bucket}/parts0-0/x.zarr", secret="another")
                if status != 2 or "403" not in text or text.count("\n") != 1:
                    fail(f"a wrong key: {status}: {text}")
            print(f"{len(COMMANDS)} commands whole and {len(COMMANDS) * options.rounds} times in 16 parts, {killed} killed: no object differs")
        finally:
            if race.server.process:
                race.server.process.kill()


if __name__ == "__main__":
    main()
