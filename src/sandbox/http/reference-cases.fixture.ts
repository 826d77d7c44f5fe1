import assert from "node:assert/strict";
import { test } from "node:test";
import type { ManualClock } from "../../base/manual-clock.ts";

/** A world that a test has to itself. */
interface Stage {
  readonly clock: ManualClock;
  close(): Promise<void>;
}

/** A sentence of a reference, and what the sandbox does about it. */
export type ReferenceCaseOf<W, Options> = Options & {
  readonly reason: string;
  readonly check: (world: W) => Promise<void>;
};

/** Every sentence by a call, as simulations use a sandbox, and over sockets, as people and the operator do. */
export function runReferenceCases<W extends Stage, Options extends object>(
  cases: readonly ReferenceCaseOf<W, Options>[],
  open: (options: Options & { readonly isOverHttp: boolean }) => Promise<W>,
): void {
  for (const each of cases) {
    for (const isOverHttp of [false, true]) {
      test(isOverHttp ? `${each.reason} (over HTTP)` : each.reason, async () => {
        const world = await open({ ...each, isOverHttp });
        try {
          await each.check(world);
        } finally {
          await world.close();
        }
        assert.equal(world.clock.timerCount, 0, "no timer outlives its request");
      });
    }
  }
}
