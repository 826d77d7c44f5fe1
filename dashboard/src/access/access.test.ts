import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HandClock } from "../base/hand-clock.fixture.ts";
import { Api, failureOf, isUnknownViewer, RequestFailed } from "./api.ts";
import { accessAfterRefusal, findAccess, pastedToken, type TokenPlace, tabPlace, tokenOfHash } from "./session.ts";
import { wantedIn } from "./wanted.ts";

const memory = (first?: string): TokenPlace => {
  let token = first;
  return {
    get: () => token,
    set: (next) => {
      token = next;
    },
  };
};

const wayIn = (by: "link" | "cluster-token") => async () => ({ by });
const exchange = async (token: string) => ({ token: `session of ${token}` });
const refuse = (status?: number) => async (): Promise<never> => {
  throw status === undefined ? new RequestFailed("no answer", "NoAnswer") : failureOf(status, undefined);
};

describe("the way in", () => {
  it("is the token of a link, exchanged once", async () => {
    const place = memory("an old one");
    const access = await findAccess({ place, linkToken: "abc", wayIn: wayIn("link"), exchange });
    assert.deepEqual([access.kind, place.get()], ["in", "session of abc"]);
  });

  for (const [status, kind, reason] of [
    [401, "needs-link", "the link was used already"],
    [403, "needs-link", "the link is not known"],
    [undefined, "unreachable", "nobody answers: the link may still be good"],
    [503, "unreachable", "the server is not ready"],
    [421, "unreachable", "another address is meant"],
  ] as const) {
    it(`is ${kind} after ${status ?? "no answer"}: ${reason}`, async () => {
      const place = memory("an old one");
      const access = await findAccess({ place, linkToken: "abc", wayIn: wayIn("link"), exchange: refuse(status) });
      assert.deepEqual([access.kind, place.get()], [kind, undefined]);
    });
  }

  it("is what the server says, where there is neither link nor token", async () => {
    const kinds = await Promise.all(
      [wayIn("link"), wayIn("cluster-token"), refuse()].map((ask) =>
        findAccess({ place: memory(), linkToken: undefined, wayIn: ask, exchange }),
      ),
    );
    assert.deepEqual(
      kinds.map(({ kind }) => kind),
      ["needs-link", "needs-token", "unreachable"],
    );
    const known = await findAccess({ place: memory("a"), linkToken: undefined, wayIn: refuse(), exchange });
    assert.equal(known.kind, "in");
  });

  it("says what to do when a token has expired", async () => {
    assert.equal((await accessAfterRefusal(wayIn("cluster-token"))).kind, "needs-token");
    assert.equal((await accessAfterRefusal(wayIn("link"))).kind, "needs-link");
    assert.equal((await accessAfterRefusal(refuse())).kind, "needs-link");
  });

  it("takes nothing for a token that is none", () => {
    assert.equal(tokenOfHash("#token=aB-_.9"), "aB-_.9");
    for (const hash of ["", "#", "#token=", "#other=1", "#token=<script>"]) assert.equal(tokenOfHash(hash), undefined);
    assert.equal(pastedToken("  eyJ.a.b\n"), "eyJ.a.b");
    for (const text of ["", "two words", "ä", "a\nb"]) assert.equal(pastedToken(text), undefined);
  });

  it("holds for a page where the browser keeps nothing", () => {
    const place = tabPlace(() => {
      throw new Error("denied");
    });
    place.set("a");
    assert.equal(place.get(), "a");
  });
});

describe("the address that somebody wanted", () => {
  const scene = () => {
    const kept = new Map<string, string>();
    const time = { now: 1000 };
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    };
    return {
      time,
      wanted: wantedIn(
        () => storage,
        () => time.now,
      ),
    };
  };

  it("is there once for the link that is opened next, and not for one of later", () => {
    const { time, wanted } = scene();
    wanted.keep("/timeline?q=a b");
    assert.equal(wanted.take(), "/timeline?q=a b");
    assert.equal(wanted.take(), undefined);
    wanted.keep("/evidence");
    time.now += 600_001;
    assert.equal(wanted.take(), undefined);
  });

  it("is a place of this page, and nothing where the browser keeps nothing", () => {
    const { wanted } = scene();
    for (const path of ["/", "//other.host/", "/\\other.host", "https://other.host"]) {
      wanted.keep(path);
      assert.equal(wanted.take(), undefined, path);
    }
    const denied = wantedIn(
      () => {
        throw new Error("denied");
      },
      () => 0,
    );
    denied.keep("/evidence");
    assert.equal(denied.take(), undefined);
  });
});

describe("a request", () => {
  const api = (answer: () => Promise<Response>, onUnknown = () => {}) =>
    new Api({ fetch: answer as typeof fetch, clock: new HandClock(), token: () => "t", onUnknown });

  for (const [answer, what] of [
    [() => new Promise<Response>(() => {}), "no answer"],
    [async () => new Response(new ReadableStream()), "half of one"],
  ] as const) {
    it(`with ${what} in time ends, and names too many pages as a cause`, async () => {
      const clock = new HandClock();
      const ask = (_: unknown, init?: RequestInit): Promise<Response> =>
        Promise.race([
          answer().then((response) => {
            init?.signal?.addEventListener("abort", () => response.body?.cancel().catch(() => {}));
            return response;
          }),
          new Promise<never>((_resolve, reject) => {
            init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
          }),
        ]);
      const slow = new Api({ fetch: ask as typeof fetch, clock, token: () => "t", onUnknown: () => {} });
      const failing = assert.rejects(slow.consumers("a", "b"), { message: /too many pages/, code: "NoAnswer" });
      await clock.move(31_000);
      await failing;
    });
  }

  for (const [status, body, line, reason] of [
    [
      409,
      { error: { code: "Conflict", message: "somebody was faster" } },
      "Somebody was faster.",
      "the server's own words",
    ],
    [409, undefined, /changed meanwhile/, "no words: ours"],
    [421, "<html>", /does not answer to this address/, "something that is no JSON"],
    [418, { error: 7 }, /418/, "a body that is not ours"],
  ] as const) {
    it(`that ends with ${status} is one line: ${reason}`, async () => {
      const answer = async () => new Response(typeof body === "string" ? body : JSON.stringify(body), { status });
      await assert.rejects(api(answer).evidence(), { message: line, status });
    });
  }

  it("without an answer says so", async () => {
    const nobody = async () => {
      throw new TypeError("Failed to fetch");
    };
    await assert.rejects(api(nobody).evidence(), { message: /cannot be reached/, code: "NoAnswer" });
  });

  it("by somebody unknown is told once to who can mend it", async () => {
    let told = 0;
    const expired = api(
      async () => new Response("{}", { status: 401 }),
      () => told++,
    );
    await assert.rejects(expired.evidence(), (error) => isUnknownViewer(error));
    assert.equal(told, 1);
  });
});
