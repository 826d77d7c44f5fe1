import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import type { ManualClock } from "../../base/manual-clock.ts";
import { fc } from "../../base/properties.fixture.ts";
import type { SandboxRequest, SandboxResponse } from "./exchange.ts";
import type { RequestCount } from "./request-log.ts";

/** A sandbox on a clock that is moved by hand, and somebody who has a token. */
interface World {
  readonly clock: ManualClock;
  readonly token: string;
  readonly sandbox: {
    handle(request: SandboxRequest): Promise<SandboxResponse>;
    requestLog(): readonly RequestCount[];
    readonly controls: { resetSwitches(): void; putInstance(settings: object, id: string): unknown };
  };
  call(method: string, target: string): Promise<unknown>;
}

interface Script<Step> {
  readonly seed: number;
  readonly switches: object;
  readonly instance: object;
  readonly steps: readonly Step[];
}

/** What a kind of sandbox brings along for the tests that all of them pass. */
export interface Subject<W extends World, Step> {
  readonly canary: string;
  readonly script: fc.Arbitrary<Script<Step>>;
  create(options?: Omit<Script<Step>, "steps">): Promise<W>;
  /** Plays the steps and returns all that could be seen; somebody may look on meanwhile. */
  run(world: W, steps: readonly Step[], isWatched?: boolean): Promise<unknown>;
  /** Requests with a secret where none belongs; the answers must not repeat it. */
  provoke(world: W): Promise<readonly unknown[]>;
  /** Where requests go to, the sandbox's own controls among them. */
  readonly paths: readonly string[];
  readonly queries: { readonly names: readonly string[]; readonly values: readonly string[] };
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly bodies: readonly fc.Arbitrary<string>[];
  readonly statuses: readonly number[];
  /** Fails where the body is not that of an error. */
  assertError(body: Readonly<Record<string, unknown>>): void;
}

/** For switches and settings. */
export const anyCount = fc.constantFrom(0, 1, 2, "always" as const);
export const anyMs = fc.constantFrom(0, 1, 50, 1000);

/** Lets time pass, in steps so small that somebody who looks on sees what is between. */
export async function passTime(clock: ManualClock, lengthMs: number, look: () => void): Promise<void> {
  for (let leftMs = lengthMs; leftMs > 0; leftMs -= 50) {
    await clock.advance(Math.min(leftMs, 50));
    look();
  }
}

/** What is the same for every sandbox. */
export function defineSandboxBehaviour<W extends World, Step>(subject: Subject<W, Step>): void {
  const { script, create, run } = subject;

  test("the same seed and calls at the same times give the same world, whoever looks on", async () => {
    await fc.assert(
      fc.asyncProperty(script, async ({ steps, ...options }) => {
        const first = await run(await create(options), steps);
        assert.deepEqual(await run(await create(options), steps, true), first);
      }),
      { numRuns: 60 },
    );
  });

  test("no key material in the request log, the state shown, or any error body", async () => {
    await fc.assert(
      fc.asyncProperty(script, async ({ steps, ...options }) => {
        const world = await create(options);
        await run(world, steps);
        await world.call(world.token, `/${world.token}`);
        const errors = await subject.provoke(world);
        const shown = [await world.call("GET", "/sandbox/state"), await world.call("GET", "/sandbox/requests")];
        const text = inspect([errors, shown, world.sandbox.requestLog(), world.sandbox], { depth: 20 });
        assert.ok(!text.includes(subject.canary), text);
      }),
      { numRuns: 30 },
    );
  });

  test("any request gets an answer of a known shape", async () => {
    const world = await create();
    world.sandbox.controls.putInstance({}, "x");
    await fc.assert(
      fc.asyncProperty(anyRequest(subject), async (request) => {
        const { authorization = "", ...others } = request.headers;
        const given = authorization === GOOD ? `Bearer ${world.token}` : authorization;
        const answer = await world.sandbox.handle({ ...request, headers: { ...others, authorization: given } });
        // Whatever a random PATCH has switched on must not change what the next request is checked against.
        world.sandbox.controls.resetSwitches();
        assert.ok(subject.statuses.includes(answer.status), `${answer.status}`);
        const body: unknown = JSON.parse(answer.body);
        assert.ok(typeof body === "object" && body !== null);
        if (answer.status >= 400) subject.assertError({ ...body });
      }),
      { numRuns: 2000 },
    );
  });
}

const GOOD = "Bearer good";

function anyRequest<W extends World, Step>(subject: Subject<W, Step>): fc.Arbitrary<SandboxRequest> {
  const { paths, queries, headers, bodies } = subject;
  const oneOf = (values: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...values);
  return fc.record(
    {
      method: fc.oneof(oneOf(["GET", "POST", "PATCH", "DELETE", "PUT", "constructor"]), fc.string()),
      path: fc.oneof(oneOf([...paths, ...CONTROLS]), fc.webPath(), fc.string()),
      query: fc
        .dictionary(fc.oneof(oneOf(queries.names), fc.string()), fc.oneof(oneOf(queries.values), fc.string()))
        .map((entries) => new URLSearchParams(entries)),
      headers: fc.record({
        authorization: oneOf([GOOD, "Bearer bad", "Basic x", ""]),
        ...Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, oneOf(values)])),
      }),
      body: fc.oneof(
        fc.json(),
        fc.string(),
        oneOf(["[".repeat(50_000), `{"a":${"[".repeat(9000)}${"]".repeat(9000)}}`]),
        ...bodies,
      ),
      clientCertificate: fc.string(),
    },
    { requiredKeys: ["method", "path", "query", "headers"] },
  );
}

const CONTROLS = [
  "/sandbox/state",
  "/sandbox/switches",
  "/sandbox/instances/x",
  "/sandbox/bindings/x",
  "/sandbox/authenticate",
  "/sandbox/%",
];
