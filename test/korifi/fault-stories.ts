import assert from "node:assert/strict";
import { secrets } from "../conformance/kinds.ts";
import { bindingType, instanceType } from "./kinds.ts";
import { nameIn } from "./secret-texts.ts";
import { filesOf, further, type KorifiStory, story, versioned } from "./story.ts";

/** What was seen to go wrong elsewhere, and should not. */
export const faultStories: readonly KorifiStory[] = [
  story("stale", "VCAP_SERVICES is current after a change, though nothing touches the application", async (scene) => {
    await scene.service("db", versioned(1));
    await scene.bind("web-db", { service: "db", app: "web" });
    await scene.gives("web-db", filesOf(versioned(1)), "web", versioned(1));
    for (const version of [2, 3]) {
      await scene.setCredentials("db", versioned(version));
      await scene.gives("web-db", filesOf(versioned(version)), "web", versioned(version));
    }
    await scene.patch(instanceType, "db", { spec: { tags: ["new"], displayName: "renamed" } });
    await scene.until("its name and tags as well", () => {
      const entry = scene.entry("web", "web-db");
      return entry?.instance_name === "renamed" && String(entry.tags) === "new";
    });
  }),

  story("type", "another type is another Secret, made and named before the old one goes", async (scene) => {
    await scene.service("db", versioned(1, "database"));
    await scene.bind("web-db", { service: "db", app: "web" });
    await scene.gives("web-db", filesOf(versioned(1, "database")), "web", versioned(1, "database"));
    const seen = new Set<string | undefined>();
    for (const [version, type] of [
      [2, "cache"],
      [3, "database"],
      [4, "queue"],
      [5, "cache"],
    ] as const) {
      await scene.setCredentials("db", versioned(version, type));
      await scene.gives("web-db", filesOf(versioned(version, type)), "web", versioned(version, type));
      assert.equal(scene.mounted("web-db")?.type, `servicebinding.io/${type}`);
      await scene.ready(bindingType, "web-db");
      const current = nameIn(await scene.get(bindingType, "web-db"), "binding");
      seen.add(current);
      await scene.until("the old Secret to go", () => {
        const items = scene.world.history.live(secrets, scene.namespace);
        const flat = items.filter((secret) => String(secret.type).startsWith("servicebinding.io/"));
        return flat.length === 1 && flat[0]?.metadata.name === current;
      });
    }
    assert.ok(seen.size > 1, "the type of a Secret cannot change");
  }),

  {
    ...further("taken", "a Secret that somebody deletes or edits is put back", async (scene) => {
      await scene.service("db", versioned(1));
      await scene.bind("web-db", { service: "db", app: "web" });
      await scene.gives("web-db", filesOf(versioned(1)), "web", versioned(1));
      await scene.delete(secrets, "web-db");
      await scene.delete(secrets, "web-vcap-services");
      await scene.gives("web-db", filesOf(versioned(1)), "web", versioned(1));
      await scene.patch(secrets, "web-db", { data: { host: null, more: "eA==" } });
      await scene.gives("web-db", filesOf(versioned(1)), "web", versioned(1));
    }),
    doesHarm: true,
  },

  further("foreign", "a Secret of somebody else's is not written over, and it is said", async (scene, stage) => {
    await scene.create(secrets, "web-vcap-services", { data: { mine: "eA==" } });
    await scene.service("db", versioned(1));
    await scene.create(secrets, "web-db", { type: "Opaque", data: { mine: "eA==" } });
    await scene.bind("web-db", { service: "db", app: "web" });
    await scene.gives("web-db", filesOf(versioned(1)));
    assert.notEqual(nameIn(await scene.get(bindingType, "web-db"), "binding"), "web-db", "another name serves as well");
    await scene.calm();
    for (const name of ["web-vcap-services", "web-db"]) {
      assert.deepEqual((await scene.secret(name))?.texts, { mine: "x" });
    }
    assert.match(stage.logOf(scene.namespace), /the Secret web-vcap-services is somebody else's/);
  }),

  further(
    "early",
    "a binding that comes before its service, and a service before its Secret, wait and say for what",
    async (scene) => {
      await scene.bind("web-db", { service: "db", app: "web" });
      await scene.until("the service", () => scene.complaints(bindingType, "web-db").includes("InstanceMissing"));
      await scene.instance("db");
      await scene.until("the Secret", () => scene.complaints(instanceType, "db").includes("SecretMissing"));
      await scene.setCredentials("db", versioned(1));
      await scene.gives("web-db", filesOf(versioned(1)), "web", versioned(1));
      await scene.ready(instanceType, "db");
      await scene.ready(bindingType, "web-db");
    },
  ),
];
