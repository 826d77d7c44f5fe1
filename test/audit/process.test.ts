import assert from "node:assert/strict";
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { startKeyturnOperator } from "../support/keyturn-operator.ts";
import { startKeyturnUp } from "../support/keyturn-up.ts";
import { runKeyturn } from "../support/run-keyturn.ts";
import { scratchFolder } from "../support/scratch-folder.ts";

const UP_FLAGS = ["--no-operator", "--quiet", "--metrics-bind", "0"];
const OPERATOR_FLAGS = ["--controllers", "btp", "--min-frequency", "5s", "--lease-namespace", "keyturn-system"];

const countOf = async (path: string, action: string): Promise<number> =>
  (await readFile(path, "utf8").catch(() => "")).split(`"action":"${action}"`).length - 1;

async function started(context: TestContext) {
  const folder = scratchFolder();
  const up = await startKeyturnUp({ dataDirectory: join(folder, "data"), flags: UP_FLAGS });
  context.after(() => up.stop("SIGKILL"));
  const { kubeconfig } = up.ready;
  const path = join(folder, "audit.log");
  const operate = (log = path) =>
    startKeyturnOperator({
      kubeconfig,
      flags: [...OPERATOR_FLAGS, "--audit-log", log],
      after: (end) => context.after(end),
    });
  const rotate = () => runKeyturn(["rotate", "servicebinding", "--all", "--yes", "--kubeconfig", kubeconfig]);
  const verify = (...words: readonly string[]) => runKeyturn(["audit", "verify", "--kubeconfig", kubeconfig, ...words]);
  return { path, operate, rotate, verify };
}

test("an operator that is moved, killed and started again leaves a log that is sound, and one that is cut is not", {
  timeout: 120_000,
}, async (context) => {
  const { path, operate, rotate, verify } = await started(context);
  const first = operate();
  await eventually("the first keys", async () => ((await countOf(path, "KeyCreated")) >= 2 ? true : undefined));
  await rename(path, `${path}.1`);
  await rotate();
  await eventually("a new file", async () => ((await countOf(path, "KeyRotated")) >= 1 ? true : undefined));
  assert.equal((await verify(path, `${path}.1`)).code, 0, "while it is written");
  await first.stop("SIGKILL");
  const killed = await verify(path, `${path}.1`);
  assert.equal(killed.code, 0, killed.stdout);

  const second = operate();
  const before = await countOf(path, "KeyRotated");
  await rotate();
  await eventually("another rotation", async () => ((await countOf(path, "KeyRotated")) > before ? true : undefined));
  assert.equal((await second.stop("SIGTERM")).code, 0);
  const whole = await verify(path, `${path}.1`);
  assert.equal(whole.code, 0, whole.stdout);
  assert.match(whole.stdout, /of 2 processes/);
  assert.match(whole.stdout, / in order$/m, "the second has left in order");
  const without = await verify(path);
  assert.equal(without.code, 1);
  assert.match(without.stdout, /missing: /);
});

test("a file that cannot be written is a mistake that shows at once", async (context) => {
  const { operate } = await started(context);
  const operator = operate(join(scratchFolder(), "nowhere", "audit.log"));
  assert.equal(await operator.ended(), 2);
  assert.match(operator.text, /^keyturn: --audit-log: ENOENT/m);
});
