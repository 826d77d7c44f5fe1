import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ProcessGroup } from "./process-group.ts";

const within = async (ms: number, holds: () => Promise<boolean>): Promise<boolean> => {
  const deadline = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > deadline) return false;
    await sleep(20);
  }
  return true;
};

interface Runner {
  readonly child: ChildProcessByStdio<null, Readable, null>;
  readonly directory: string;
  readNotes(): Promise<string[]>;
  pids(): Promise<number[]>;
}

/** A program of its own that holds three processes; it is up when each of them has noted its start. */
async function startRunner(outside: string): Promise<Runner> {
  const directory = await mkdtemp(path.join(outside, "group-"));
  const notes = path.join(outside, "notes");
  const script = path.join(import.meta.dirname, "process-group.fixture.ts");
  const child = spawn(process.execPath, [script, directory, notes], { stdio: ["ignore", "pipe", "inherit"] });
  const readNotes = async (): Promise<string[]> =>
    (await readFile(notes, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  const pids = async (): Promise<number[]> =>
    (await readNotes()).filter((line) => line.startsWith("start ")).map((line) => Number(line.split(" ")[2]));
  assert.ok(await within(10_000, async () => (await pids()).length === 3), "three processes start");
  return { child, directory, readNotes, pids };
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

for (const signal of ["SIGKILL", "SIGTERM", "SIGINT"] as const) {
  test(`nothing survives a runner that ends by ${signal}, and the API server goes before etcd`, async () => {
    const outside = await mkdtemp(path.join(tmpdir(), "keyturn-process-group-"));
    try {
      const runner = await startRunner(outside);
      const pids = await runner.pids();
      runner.child.kill(signal);
      assert.ok(await within(10_000, async () => !pids.some(isAlive)), "every process ends");
      assert.ok(await within(5_000, async () => !existsSync(runner.directory)), "the directory is removed");
      const ends = (await runner.readNotes()).filter((line) => line.startsWith("end "));
      assert.deepEqual(ends, ["end client", "end kube-apiserver", "end etcd"]);
    } finally {
      await rm(outside, { recursive: true, force: true });
    }
  });
}

test("a process that ignores SIGTERM is killed after the grace, and a kept directory stays", async () => {
  const directory = await mkdtemp(path.join(tmpdir(), "keyturn-process-group-"));
  try {
    const group = new ProcessGroup(directory, 500);
    const log = path.join(directory, "stubborn.log");
    const script =
      'process.on("SIGTERM", () => console.log("no")); console.log(process.pid); setInterval(() => {}, 1000);';
    await group.start("stubborn", process.execPath, ["-e", script], log);
    assert.ok(await within(10_000, async () => /^\d+\n/.test(await readFile(log, "utf8"))), "it is up");
    const pid = Number.parseInt(await readFile(log, "utf8"), 10);
    await group.end({ keepDirectory: true });
    assert.equal(isAlive(pid), false);
    assert.match(await readFile(log, "utf8"), /no/);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("a program that does not exist is an error, and one that ends is no longer running", async () => {
  const directory = await mkdtemp(path.join(tmpdir(), "keyturn-process-group-"));
  const group = new ProcessGroup(directory);
  try {
    const log = path.join(directory, "x.log");
    await assert.rejects(group.start("none", path.join(directory, "none"), [], log), /ENOENT/);
    await group.start("short", process.execPath, ["-e", ""], log);
    assert.ok(await within(10_000, async () => !group.isRunning("short")));
  } finally {
    await group.end({ keepDirectory: false });
  }
  assert.equal(existsSync(directory), false);
});
