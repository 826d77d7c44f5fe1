import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { everyMetric } from "../../tools/reference/every-metric.ts";
import { findBuiltKubectl } from "../cluster/build.ts";
import { eventually } from "../support/eventually.ts";
import { findOnPath } from "../support/find-on-path.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import { type ConsoleStep, consoleSteps, disagreement } from "./console.ts";
import { Shell } from "./shell.ts";
import { folder, read, START, tutorials } from "./tutorials.ts";

const kubectl = process.env.KEYTURN_CONFORMANCE_KUBECTL ?? (await findBuiltKubectl()) ?? (await findOnPath("kubectl"));

/** Whoever only looks may look again: what happens takes its time. */
const LOOKS = /^(keyturn (status|explain|consumers)|kubectl get)\b/;
/** Nothing has happened then: a machine that is very busy lets a server wait for longer than kubectl does. */
const UNREACHED = /Unable to connect to the server/;
const PATIENCE_MS = 90_000;
const TIMEOUT_MS = 300_000;

const skip = kubectl === undefined && "needs a kubectl: on the PATH, or as npm run test:cluster builds one";

describe("the tutorials, as they are written", { concurrency: true, timeout: TIMEOUT_MS }, () => {
  const checkout = scratchFolder();
  // Of the person's own set-up only what is needed to find programs.
  const environment = { PATH: [dirname(kubectl ?? ""), process.env.PATH].join(delimiter), HOME: checkout };
  let up: ChildProcess | undefined;
  let said = "";

  before(async () => {
    if (kubectl === undefined) return;
    for (const name of ["package.json", "package-lock.json", "node_modules", "src", "docs", "tools", "dashboard"]) {
      symlinkSync(join(folder, name), join(checkout, name));
    }
    const child = spawn("sh", ["-c", `exec ${START.split(" && ")[1]}`], {
      cwd: checkout,
      env: environment,
      detached: true,
    });
    up = child;
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk;
    });
    await eventually("keyturn is up", () => Promise.resolve(said.includes("Ctrl-C stops it") || undefined), TIMEOUT_MS);
  });
  after(async () => {
    if (up?.pid === undefined || up.exitCode !== null) return;
    const ended = new Promise((resolve) => up?.on("close", resolve));
    // All of its group: npm does not hand a signal on from everywhere.
    process.kill(-up.pid, "SIGINT");
    await ended;
  });

  for (const file of tutorials) {
    test(`${file}: every command prints what the page says`, { skip }, async (context) => {
      const shell = new Shell(checkout, environment);
      context.after(() => shell.close());
      const steps = consoleSteps(read(file));
      assert.ok(steps.length > 8, `only ${steps.length} commands were found: has the search stopped working?`);
      for (const step of steps) await follow(shell, step, file);
    });
  }

  test("docs/reference/metrics.md has every metric that is served, and those alone", { skip }, async () => {
    const [, address = assert.fail("the banner says where metrics are")] = /metrics +(http:\S+)/.exec(said) ?? [];
    const text = await (await fetch(address)).text();
    const served = [...text.matchAll(/^# TYPE ((?:keyturn|bindy)_\w+) (\w+)$/gm)].map(
      ([, name, type]) => `${name} ${type}`,
    );
    const listed = everyMetric().flatMap(({ metrics }) => metrics.filter(({ isPerObject }) => !isPerObject));
    assert.deepEqual(served.sort(), listed.map(({ name, type }) => `${name} ${type}`).sort());
  });
});

async function follow(shell: Shell, { command, prints, line }: ConsoleStep, file: string): Promise<void> {
  let fault: string | undefined;
  const look = async (): Promise<true | undefined> => {
    const printed = await shell.run(command);
    fault = disagreement(prints, printed);
    const isOver = fault === undefined || !(LOOKS.test(command) || UNREACHED.test(printed.join("\n")));
    return isOver || undefined;
  };
  await eventually(command, look, PATIENCE_MS).catch(() => {});
  assert.equal(fault, undefined, `${file}:${line}: $ ${command}`);
}
