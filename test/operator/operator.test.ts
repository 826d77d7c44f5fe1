import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import type { Kube } from "../../src/kube/port.ts";
import { connect } from "../support/connect.ts";
import { declareRefusal } from "../support/declare-refusal.ts";
import { Gateway, type Treatment } from "../support/gateway.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import { startKeyturnUp } from "../support/keyturn-up.ts";
import { type OperatorAccess, operatorAccess, SYSTEM } from "../support/operator-access.ts";
import { pickTarget } from "../support/pick-target.ts";
import type { RunningTarget } from "../support/target.ts";
import {
  createBinding,
  deleteBinding,
  installDefinitions,
  knowsBindings,
  removeBindingDefinition,
  timesWorked,
  workedOn,
} from "./bindings.ts";
import { surviveOutage } from "./outage.ts";

/** The operator as a process, on the embedded server (`npm test`) and on a real one (`npm run test:cluster`). */
const target = await pickTarget();

/** That are open: of bindings, ProviderConfigs, CRDs, and two of Secrets. The kind of instances is not installed. */
const WATCHES = 5;

function refusal(code: number, reason: string): Treatment {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, code, message: reason };
  return { status: code, contentType: "application/json", body: JSON.stringify(status) };
}

describe(`the operator on the ${target.name} server`, { concurrency: 1, timeout: 180_000 }, () => {
  let server: RunningTarget;
  let kube: Kube;
  let access: OperatorAccess;
  before(async () => {
    server = await target.start();
    kube = await connect(server.kubeconfig);
    access = await accessIn(SYSTEM);
  });
  after(async () => {
    await kube.close();
    await server.stop();
  });

  const start = (context: TestContext, flags: readonly string[] = [], own = access) =>
    startKeyturnOperator({ ...own, flags: ["--controllers", "btp", ...flags], after: (end) => context.after(end) });
  /** With a Lease of its own. */
  const accessIn = (namespace: string): Promise<OperatorAccess> =>
    operatorAccess({ ...server, name: target.name }, { controllers: ["btp"], namespace });
  const openGateway = async (context: TestContext, own = access): Promise<OperatorAccess & { gateway: Gateway }> => {
    const gateway = await Gateway.start(own.kubeconfig);
    context.after(() => gateway.close());
    return { ...own, kubeconfig: gateway.kubeconfig, gateway };
  };

  /** Two on one Lease. */
  const pairIn = async (context: TestContext, namespace: string): Promise<readonly KeyturnOperator[]> => {
    const own = await accessIn(namespace);
    // On the embedded server they have a namespace in common anyhow.
    const flags = own.namespace === undefined ? ["--leader-elect", "--lease-name", namespace] : ["--leader-elect"];
    return [start(context, flags, own), start(context, flags, own)];
  };

  test("CRDs that are installed later, removed and installed again are picked up each time", async (context) => {
    await removeBindingDefinition(kube);
    const operator = start(context);
    await operator.ready();
    await operator.logs(/^the kind is not installed/);
    await installDefinitions(kube);
    await createBinding(kube, "first");
    await workedOn(kube, "first");
    await knowsBindings(operator, 1);
    await removeBindingDefinition(kube);
    await knowsBindings(operator, 0);
    await installDefinitions(kube);
    await createBinding(kube, "second");
    await workedOn(kube, "second");
    await knowsBindings(operator, 1);
    await operator.ready();
    await deleteBinding(kube, "second");
    await knowsBindings(operator, 0);
    assert.equal((await operator.stop("SIGINT")).code, 0, operator.text);
  });

  test("of two on one Lease exactly one leads, and hands over when it is told to leave", async (context) => {
    await installDefinitions(kube);
    const operators = await pairIn(context, `handover-${process.pid}`);
    const { leader, standby } = await onlyLeader(operators);
    await createBinding(kube, "led");
    await workedOn(kube, "led");
    await knowsBindings(standby, 1);
    assert.equal(await timesWorked(standby), 0, "a standby works on nothing");
    const { code, tookMs } = await leader.stop("SIGTERM");
    assert.equal(code, 0, leader.text);
    assert.ok(tookMs < 5_000, `leaving took ${tookMs} ms`);
    assert.equal(leader.lines("released the Lease").length, 1);
    await standby.until("to lead", async () => (await standby.metric("keyturn_leader")) === 1);
    await standby.until("to work on what was there", async () => (await timesWorked(standby)) > 0);
    await createBinding(kube, "led-by-another");
    await workedOn(kube, "led-by-another");
    for (const name of ["led", "led-by-another"]) await deleteBinding(kube, name);
    await knowsBindings(standby, 0);
    assert.equal((await standby.stop("SIGTERM")).code, 0, standby.text);
  });

  test("of two on one Lease the other takes over when the leader is killed, once its term is over", {
    skip: target.name === "embedded" && "takes the 15 s of a lease: npm run test:cluster",
  }, async (context) => {
    const { leader, standby } = await onlyLeader(await pairIn(context, `killed-${process.pid}`));
    const killedAt = performance.now();
    await leader.stop("SIGKILL");
    await standby.until("to lead", async () => (await standby.metric("keyturn_leader")) === 1);
    const tookMs = performance.now() - killedAt;
    // The leader renewed its lease of 15 s at most 2 s before it was killed.
    assert.ok(tookMs > 12_000, `took over after ${tookMs} ms`);
    assert.equal((await standby.stop("SIGTERM")).code, 0, standby.text);
  });

  test("the server goes away and comes back", {
    skip: target.name === "real" && "has a control plane of its own: operator-outage.test.ts",
  }, async (context) => {
    const dataDirectory = mkdtempSync(join(tmpdir(), "keyturn-outage-"));
    // It has an operator of its own, which must not think otherwise of the bindings.
    const flags = ["--no-examples", "--quiet", "--metrics-bind", "0", "--min-frequency", "1m"];
    let up = await startKeyturnUp({ dataDirectory, flags });
    context.after(async () => {
      await up.stop("SIGINT");
      rmSync(dataDirectory, { recursive: true, force: true });
    });
    const mortal = {
      name: "embedded",
      kubeconfig: up.ready.kubeconfig,
      stop: async () => void (await up.stop("SIGKILL")),
      start: async () => {
        up = await startKeyturnUp({ dataDirectory, flags });
      },
    } as const;
    await surviveOutage(mortal, (end) => context.after(end));
  });

  test("credentials that are refused, and a page in the server's place: said once, asked for seldom, and overcome", async (context) => {
    await installDefinitions(kube);
    const { gateway, ...own } = await openGateway(context);
    // A cluster may keep its version to itself; that is no reason not to start.
    gateway.treat((path) => (path === "/version" ? refusal(403, "Forbidden") : "pass"));
    const operator = start(context, [], own);
    await operator.logs("watching", { count: 4 });
    const page: Treatment = { status: 200, contentType: "text/html", body: "<html>log in</html>" };
    const cases: readonly (readonly [string, Treatment])[] = [
      ["Unauthorized", refusal(401, "Unauthorized")],
      ["Unavailable", page],
    ];
    for (const [code, treatment] of cases) {
      const name = `under-${code.toLowerCase()}`;
      const told = (): number => operator.lines("cannot watch; trying on").filter((line) => line.code === code).length;
      gateway.requests.length = 0;
      gateway.treat(() => treatment);
      await operator.until(`each watch to tell of ${code}`, async () => told() >= WATCHES);
      await createBinding(kube, name);
      assert.equal(told(), WATCHES);
      assert.ok(gateway.requests.length <= WATCHES * 5, `${gateway.requests.length} requests for ${WATCHES} watches`);
      gateway.treat(() => "pass");
      await workedOn(kube, name);
      await deleteBinding(kube, name);
    }
    await operator.ready();
    assert.equal((await operator.stop("SIGTERM")).code, 0, operator.text);
  });

  test("an operator that is told to stop while it still starts leaves at once, and so does one under fire", async (context) => {
    const { gateway, ...own } = await openGateway(context);
    gateway.treat(() => "hang");
    const starting = start(context, [], own);
    await starting.until("to ask for the server's version", async () => gateway.requests.length > 0);
    const left = await starting.stop("SIGTERM");
    assert.equal(left.code, 0, starting.text);
    assert.ok(left.tookMs < 1_000, `leaving took ${left.tookMs} ms`);
    gateway.treat((path) => (path === "/version" ? "pass" : "hang"));
    const stuck = start(context, ["--leader-elect"], own);
    await stuck.until("to ask for its Lease", async () => gateway.requests.some((line) => line.includes("leases")));
    const ended = await stuck.stop("SIGTERM");
    assert.equal(ended.code, 0, stuck.text);
    assert.ok(ended.tookMs < 5_000, `leaving took ${ended.tookMs} ms`);
  });

  test("a Lease in a namespace that is not there is said, and fails readiness", async (context) => {
    declareRefusal({ namespace: "nowhere", reason: "rights cannot be granted in a namespace that is not there" });
    const lost = start(context, ["--leader-elect"], { ...access, namespace: "nowhere" });
    await lost.logs("cannot reach the Lease");
    await lost.until("not to be ready", async () => lost.lines("watching").length > 0 && !(await lost.isReady()));
    assert.equal(await lost.metric("keyturn_leader"), 0);
    assert.equal((await lost.stop("SIGTERM")).code, 0, lost.text);
  });

  test("a leader that is cut off from its Lease ends before anybody else may lead", {
    skip: target.name === "embedded" && "takes the 10 s of a term: npm run test:cluster",
  }, async (context) => {
    const { gateway, ...own } = await openGateway(context, await accessIn(`cut-off-${process.pid}`));
    const leader = start(context, ["--leader-elect"], own);
    await leader.until("to lead", async () => (await leader.metric("keyturn_leader")) === 1);
    const cutOffAt = performance.now();
    gateway.treat(() => "hang");
    assert.equal(await leader.ended(), 1, "a leader that cannot renew its Lease ends, and its pod starts anew");
    const tookMs = performance.now() - cutOffAt;
    assert.ok(tookMs < 15_000, `ended after ${tookMs} ms`);
    assert.match(leader.text, /the Lease could not be renewed in time/);
  });
});

/** Waits until one of the two leads, and makes sure that the other does not. */
async function onlyLeader(
  operators: readonly KeyturnOperator[],
): Promise<{ readonly leader: KeyturnOperator; readonly standby: KeyturnOperator }> {
  const [first, second] = operators;
  assert.ok(first && second);
  await Promise.all(operators.map((operator) => operator.ready()));
  const leading = async (): Promise<readonly (number | undefined)[]> =>
    Promise.all(operators.map((operator) => operator.metric("keyturn_leader")));
  await first.until("one of the two to lead", async () => (await leading()).includes(1));
  const values = await leading();
  assert.deepEqual([...values].sort(), [0, 1]);
  return values[0] === 1 ? { leader: first, standby: second } : { leader: second, standby: first };
}
