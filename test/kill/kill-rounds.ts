import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { integerBetween, pick, type Random, seededRandom } from "../../src/base/random.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { connect } from "../support/connect.ts";
import { startKeyturnUp } from "../support/keyturn-up.ts";

/**
 * `kill -9` of the embedded server in a loop under writes. Each writer has names of its own and one request under way at
 * a time, so after a kill it knows exactly which states the server may be in: the last one that was acknowledged, or the
 * one it was asking for when the server died.
 */
export interface KillReport {
  readonly seed: number;
  readonly rounds: number;
  /** Writes that were acknowledged. */
  readonly acknowledged: number;
  /** Requests that were under way when the server was killed, and how many of them turned out to have happened. */
  readonly underWay: number;
  readonly underWayHappened: number;
  readonly problems: readonly string[];
}

const configMaps: ResourceType = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};
const NAMES_PER_WRITER = 5;
const WRITERS = 4;
const MOST_WAITS = 20_000;

/** What is known of one name; `undefined` means that it does not exist. */
interface Name {
  readonly name: string;
  known: string | undefined;
  asked: { readonly value: string | undefined } | undefined;
}

export async function killRounds(options: {
  readonly seed: number;
  readonly rounds: number;
  readonly onRound?: (round: number, acknowledged: number) => void;
}): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), "keyturn-kill-"));
  const random = seededRandom(options.seed);
  const writers = Array.from({ length: WRITERS }, (_, writer) =>
    Array.from(
      { length: NAMES_PER_WRITER },
      (_, index): Name => ({
        name: `w${writer}-${index}`,
        known: undefined,
        asked: undefined,
      }),
    ),
  );
  const tally = { acknowledged: 0, underWay: 0, underWayHappened: 0, highestVersion: 0 };
  const problems: string[] = [];
  try {
    for (let round = 1; round <= options.rounds; round++) {
      const server = await startKeyturnUp({ dataDirectory: folder });
      const kube = await connect(server.ready.kubeconfig);
      await compare(kube, writers.flat(), { tally, problems, round });
      const stop = { requested: false };
      const writing = writers.map((names) => write(kube, names, { random, stop, tally }));
      await acknowledgedAnother(tally, integerBetween(random, 6, 40));
      stop.requested = true;
      await server.stop("SIGKILL");
      await Promise.all(writing);
      await kube.close();
      options.onRound?.(round, tally.acknowledged);
    }
    const server = await startKeyturnUp({ dataDirectory: folder });
    const kube = await connect(server.ready.kubeconfig);
    await compare(kube, writers.flat(), { tally, problems, round: options.rounds + 1 });
    await server.stop("SIGKILL");
    await kube.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const { acknowledged, underWay, underWayHappened } = tally;
  return { seed: options.seed, rounds: options.rounds, acknowledged, underWay, underWayHappened, problems };
}

/** By writes and not by time: how many there are in a moment tells of the machine. */
async function acknowledgedAnother(tally: Tally, count: number): Promise<void> {
  const enough = tally.acknowledged + count;
  for (let waited = 0; tally.acknowledged < enough; waited++) {
    if (waited > MOST_WAITS) throw new Error(`${count} writes took too long`);
    await sleep(1);
  }
}

interface Tally {
  acknowledged: number;
  underWay: number;
  underWayHappened: number;
  highestVersion: number;
}

/** Writes until the server is gone: creates, replaces, patches and deletes. The kill cuts a request off in the middle. */
async function write(
  kube: Kube,
  names: readonly Name[],
  { random, stop, tally }: { readonly random: Random; readonly stop: { requested: boolean }; readonly tally: Tally },
): Promise<void> {
  for (;;) {
    const target = pick(random, names);
    const value = `${integerBetween(random, 0, 1_000_000)}`;
    const removes = target.known !== undefined && random.next() < 0.2;
    target.asked = { value: removes ? undefined : value };
    try {
      const version = await change(kube, target, { value, removes, random });
      tally.highestVersion = Math.max(tally.highestVersion, version);
    } catch (error) {
      if (!stop.requested) throw error;
      tally.underWay++;
      return;
    }
    target.known = target.asked.value;
    target.asked = undefined;
    tally.acknowledged++;
  }
}

async function change(
  kube: Kube,
  { name, known }: Name,
  { value, removes, random }: { readonly value: string; readonly removes: boolean; readonly random: Random },
): Promise<number> {
  const ref = { namespace: "default", name };
  if (removes) return Number((await kube.delete(configMaps, ref))?.metadata.resourceVersion ?? 0);
  // Two copies of one value: an object that is half there would show two different ones. The padding spans pages.
  const data = { first: value, padding: "x".repeat(integerBetween(random, 0, 20_000)), last: value };
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: ref, data };
  const written =
    known === undefined
      ? await kube.create<KubeObject>(configMaps, body)
      : random.next() < 0.5
        ? await kube.replace<KubeObject>(configMaps, body)
        : await kube.patch(configMaps, ref, { type: "merge", body: { data } });
  return Number(written.metadata.resourceVersion);
}

/** What the server holds against what it may hold; then what it holds is what is known. */
async function compare(
  kube: Kube,
  names: readonly Name[],
  { tally, problems, round }: { readonly tally: Tally; readonly problems: string[]; readonly round: number },
): Promise<void> {
  const list = await kube.list(configMaps, { namespace: "default" });
  if (Number(list.resourceVersion) < tally.highestVersion) {
    problems.push(
      `round ${round}: at version ${list.resourceVersion}, but ${tally.highestVersion} was given out before`,
    );
  }
  const held = new Map(list.items.map((item) => [item.metadata.name, item]));
  for (const target of names) {
    const data = held.get(target.name)?.data as { readonly first: string; readonly last: string } | undefined;
    if (data && data.first !== data.last) problems.push(`round ${round}: ${target.name} is half there`);
    const isAsked = target.asked !== undefined && data?.first === target.asked.value;
    if (data?.first !== target.known && !isAsked) {
      problems.push(`round ${round}: ${target.name} is ${data?.first}, acknowledged was ${target.known}`);
    }
    if (isAsked) tally.underWayHappened++;
    target.known = data?.first;
    target.asked = undefined;
  }
}
