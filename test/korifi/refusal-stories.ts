import assert from "node:assert/strict";
import { Invalid } from "../../src/kube/errors.ts";
import { secrets } from "../conformance/kinds.ts";
import { bindingType, instanceType } from "./kinds.ts";
import type { KorifiScene } from "./korifi-scene.ts";
import { filesOf, further, hidden, type KorifiStory, story, versioned } from "./story.ts";

const MIB = 1024 * 1024;

/** What cannot be credentials, and what is said of it: a word, and the name of the key where there is one. */
interface Refusal {
  readonly why: string;
  readonly text: string;
  readonly says: RegExp;
  /** One of its kind is enough where tests are to be short. */
  readonly isFurther?: true;
}

const refusals: readonly Refusal[] = [
  { why: "a key with a slash", text: `{"a/b":"${hidden("x")}"}`, says: /InvalidKey: "a\/b"/ },
  {
    why: "a key with a space",
    text: `{"my key":"${hidden("x")}","ok":1}`,
    says: /InvalidKey: "my key"/,
    isFurther: true,
  },
  {
    why: "a key that leads out of its directory",
    text: `{"..up":"${hidden("x")}"}`,
    says: /InvalidKey: "..up"/,
    isFurther: true,
  },
  {
    why: "a key that is too long",
    text: `{"${"k".repeat(254)}":"${hidden("x")}"}`,
    says: /InvalidKey: "kkk/,
    isFurther: true,
  },
  { why: "an empty text", text: "", says: /CredentialsMissing/, isFurther: true },
  { why: "no JSON", text: `{"password":"${hidden("x")}`, says: /CredentialsNotJson/, isFurther: true },
  { why: "a list", text: `["${hidden("x")}"]`, says: /CredentialsNotObject/ },
  { why: "a text", text: `"${hidden("x")}"`, says: /CredentialsNotObject/, isFurther: true },
  { why: "null", text: "null", says: /CredentialsNotObject/, isFurther: true },
  { why: "half of a character", text: `{"pin":"\\ud800${hidden("x")}"}`, says: /NotText: "pin"/ },
  { why: "more than there is room for", text: `{"k":"${"x".repeat(MIB - 13)}"}`, says: /CredentialsTooLarge/ },
];

const slug = (why: string): string => why.replaceAll(/[^a-z]+/gi, "-").toLowerCase();

/** What is given out stays as it is while credentials are refused, and goes on when they are not. */
async function refused(scene: KorifiScene, { text, says }: Refusal): Promise<void> {
  await scene.service("db", versioned(1));
  await scene.service("other", versioned(1));
  await scene.bind("web-db", { service: "db", app: "web" });
  await scene.bind("web-other", { service: "other", app: "web" });
  await scene.gives("web-db", filesOf(versioned(1)), "web", versioned(1));
  await scene.gives("web-other", filesOf(versioned(1)), "web", versioned(1));
  const before = await versionOf(scene, "web-db");
  await scene.setCredentials("db", text);
  for (const [type, name] of [
    [instanceType, "db"],
    [bindingType, "web-db"],
  ] as const) {
    await scene.until(`${name} to say why`, () => says.test(scene.complaints(type, name)));
  }
  await scene.setCredentials("other", versioned(2));
  await scene.gives("web-other", filesOf(versioned(2)), "web", versioned(2));
  assert.equal(await versionOf(scene, "web-db"), before, "the Secret that is projected is as it was");
  await scene.gives("web-db", filesOf(versioned(1)), "web", versioned(1));
  await scene.setCredentials("db", versioned(3));
  await scene.gives("web-db", filesOf(versioned(3)), "web", versioned(3));
  await scene.ready(instanceType, "db");
  await scene.ready(bindingType, "web-db");
}

const versionOf = async (scene: KorifiScene, name: string): Promise<string | undefined> =>
  (await scene.get(secrets, name))?.metadata.resourceVersion;

export const refusalStories: readonly KorifiStory[] = [
  ...refusals.map((refusal) =>
    (refusal.isFurther ? further : story)(
      `no-${slug(refusal.why)}`.slice(0, 40).replace(/-+$/, ""),
      `refused, and the Secret of before stays: ${refusal.why}`,
      (scene) => refused(scene, refusal),
    ),
  ),

  further("no-key", "refused, and the Secret of before stays: a Secret without the key", async (scene) => {
    await scene.service("db", versioned(1));
    await scene.bind("web-db", { service: "db", app: "web" });
    await scene.gives("web-db", filesOf(versioned(1)), "web", versioned(1));
    await scene.patch(secrets, "db", { data: { credentials: null, password: "eA==" } });
    await scene.until("it to be said", () => /no key credentials/.test(scene.complaints(instanceType, "db")));
    await scene.calm();
    await scene.gives("web-db", filesOf(versioned(1)), "web", versioned(1));
  }),

  further("no-room", "more than a Secret holds does not get past the API server", async (scene) => {
    await scene.service("db", versioned(1));
    await scene.bind("web-db", { service: "db" });
    await scene.gives("web-db", filesOf(versioned(1)));
    await assert.rejects(scene.setCredentials("db", `{"k":"${"x".repeat(MIB)}"}`), Invalid);
    await scene.gives("web-db", filesOf(versioned(1)));
  }),

  further("none", "no credentials at all are an empty object, and taken", async (scene) => {
    await scene.service("db", "{}");
    await scene.bind("web-db", { service: "db", app: "web" });
    await scene.gives("web-db", { type: "user-provided" }, "web", {});
  }),
];
