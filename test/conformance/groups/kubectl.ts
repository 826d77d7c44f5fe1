import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at, settles } from "../expectations.ts";
import { configMaps, secrets } from "../kinds.ts";
import { configMap, deployment, secret } from "../manifests.ts";
import { fail, fromInput, input, succeed } from "../run-kubectl.ts";
import { isGone } from "../watching.ts";
import { makeWidget, widgetDraft, widgets } from "../widgets.ts";

const colors = (namespace: string, data: Readonly<Record<string, string>>) => configMap(namespace, "colors", data);

/** An editor for `kubectl edit`: a script that replaces text in the file it is given. */
async function withEditor(from: string, to: string, use: (editor: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), "keyturn-editor-"));
  try {
    const editor = path.join(directory, "editor.sh");
    await writeFile(editor, `#!/bin/sh\nsed -i.bak 's/${from}/${to}/' "$1"\n`);
    await chmod(editor, 0o700);
    await use(editor);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** What people type. Each behaviour is one thing they do. */
export const kubectl: BehaviourGroup = {
  name: "kubectl",
  needs: "kubectl",
  behaviours: [
    behaviour("version, cluster-info and api-versions speak to the server", async (world) => {
      assert.match(await succeed(world, ["version"]), /Server Version: v1\.36\./);
      assert.match(await succeed(world, ["cluster-info"]), /is running at/);
      assert.match(await succeed(world, ["api-versions"]), /^apps\/v1$/m);
    }),
    behaviour("api-resources lists kinds with short names, also custom ones", async (world) => {
      const type = await widgets(world);
      const text = await succeed(world, ["api-resources"]);
      assert.match(text, /^configmaps +cm +v1 +true +ConfigMap$/m);
      assert.match(text, /^deployments +deploy +apps\/v1 +true +Deployment$/m);
      await settles(async () => {
        const own = await succeed(world, ["api-resources", `--api-group=${type.group}`]);
        assert.match(own, /^widgets +wg +\S+\/v1 +true +Widget$/m);
      });
    }),
    behaviour("create, get, and create again", async (world) => {
      const args = ["create", "configmap", "a", "--from-literal=key=value"];
      assert.equal(await succeed(world, args), "configmap/a created\n");
      assert.equal(await succeed(world, ["get", "configmap", "a", "--output=jsonpath={.data.key}"]), "value");
      const { stderr } = await fail(world, args);
      assert.equal(stderr, 'error: failed to create configmap: configmaps "a" already exists\n');
    }),
    behaviour("get shows a table; -o wide, name, yaml and json work", async (world) => {
      await succeed(world, ["create", "secret", "generic", "a", "--from-literal=key=value"]);
      assert.match(await succeed(world, ["get", "secrets"]), /^NAME +TYPE +DATA +AGE\na +Opaque +1 +\d+s\n$/);
      assert.equal(await succeed(world, ["get", "secrets", "--output=name"]), "secret/a\n");
      assert.match(
        await succeed(world, ["get", "secret", "a", "--output=yaml"]),
        /^apiVersion: v1\ndata:\n {2}key: dmFsdWU=\nkind: Secret\n/,
      );
      assert.equal(at(JSON.parse(await succeed(world, ["get", "secrets", "--output=json"])), "kind"), "List");
    }),
    behaviour("get of what is not there says so", async (world) => {
      const { stderr } = await fail(world, ["get", "configmap", "none"]);
      assert.equal(stderr, 'Error from server (NotFound): configmaps "none" not found\n');
      const unknown = await fail(world, ["get", "unheardof"]);
      assert.equal(unknown.stderr, 'error: the server doesn\'t have a resource type "unheardof"\n');
      const empty = await world.kubectl(["get", "pods"]);
      assert.match(empty.stderr, /^No resources found in \S+ namespace\.\n$/);
    }),
    behaviour("get -w streams changes as they happen", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(configMaps, configMap(namespace, "first", { a: "1" }, { mine: "yes" }));
      let step = 0;
      const { stdout } = await world.kubectl(["get", "configmaps", "--watch", "--selector=mine", "--no-headers"], {
        until: (text) => {
          const lines = text.split("\n").filter((line) => line !== "").length;
          // Each change is made only once the one before was seen on the screen.
          if (lines === 1 && step === 0) {
            step = 1;
            void world.kube.create(configMaps, configMap(namespace, "second", {}, { mine: "yes" }));
          } else if (lines === 2 && step === 1) {
            step = 2;
            const body = { data: { b: "2", c: "3" } };
            void world.kube.patch(configMaps, { namespace, name: "second" }, { type: "merge", body });
          }
          return lines >= 3;
        },
      });
      const shown = stdout
        .trim()
        .split("\n")
        .map((line) => line.split(/ +/).slice(0, 2).join(" "));
      assert.deepEqual(shown, ["first 1", "second 0", "second 2"]);
    }),
    behaviour("apply creates, configures and leaves unchanged", async (world) => {
      const namespace = await world.namespace();
      const apply = (data: Readonly<Record<string, string>>) =>
        succeed(world, ["apply", ...fromInput], input(colors(namespace, data)));
      assert.equal(await apply({ a: "1", b: "2" }), "configmap/colors created\n");
      assert.equal(await apply({ a: "1", b: "2" }), "configmap/colors unchanged\n");
      assert.equal(await apply({ b: "3" }), "configmap/colors configured\n");
      const read = await world.kube.get(configMaps, { namespace, name: "colors" });
      assert.deepEqual(read.data, { b: "3" }, "what is no longer applied is removed");
    }),
    behaviour("apply --server-side reports conflicts with the field and takes over when forced", async (world) => {
      const namespace = await world.namespace();
      const apply = ["apply", "--server-side", ...fromInput];
      const one = input(colors(namespace, { a: "1" }));
      const two = input(colors(namespace, { a: "2" }));
      assert.equal(await succeed(world, apply, one), "configmap/colors serverside-applied\n");
      const { stderr } = await fail(world, [...apply, "--field-manager=other"], two);
      assert.match(stderr, /Apply failed with 1 conflict: conflict with "kubectl": \.data\.a/);
      await succeed(world, [...apply, "--field-manager=other", "--force-conflicts"], two);
      assert.deepEqual((await world.kube.get(configMaps, { namespace, name: "colors" })).data, { a: "2" });
    }),
    behaviour("apply of a Deployment and of a custom resource", async (world) => {
      const namespace = await world.namespace();
      await widgets(world);
      const manifest = {
        apiVersion: "v1",
        kind: "List",
        items: [deployment(namespace, "web"), await widgetDraft(world)],
      };
      const text = await succeed(world, ["apply", ...fromInput], input(manifest));
      assert.match(text, /^deployment\.apps\/web created\nwidget\.\S+\/a created\n$/);
      const again = await succeed(world, ["apply", ...fromInput], input(manifest));
      assert.match(again, /^deployment\.apps\/web unchanged\nwidget\.\S+\/a unchanged\n$/);
    }),
    behaviour("create -f refuses unknown fields and names them", async (world) => {
      const namespace = await world.namespace();
      const manifest = { ...configMap(namespace, "a"), dta: { k: "v" } };
      const { stderr } = await fail(world, ["create", ...fromInput], input(manifest));
      assert.match(stderr, /strict decoding error: unknown field "dta"/);
      assert.ok(await isGone(world.kube.get(configMaps, { namespace, name: "a" })));
    }),
    behaviour("diff shows the change and changes nothing", async (world) => {
      const namespace = await world.namespace();
      await succeed(world, ["apply", ...fromInput], input(colors(namespace, { a: "old" })));
      const { code, stdout } = await world.kubectl(["diff", ...fromInput], input(colors(namespace, { a: "new" })));
      assert.equal(code, 1, "a difference is code 1");
      assert.match(stdout, /^- {2}a: old$/m);
      assert.match(stdout, /^\+ {2}a: new$/m);
      assert.deepEqual((await world.kube.get(configMaps, { namespace, name: "colors" })).data, { a: "old" });
      await succeed(world, ["diff", ...fromInput], input(colors(namespace, { a: "old" })));
    }),
    behaviour("label and annotate set, refuse to overwrite, and remove", async (world) => {
      await succeed(world, ["create", "configmap", "a"]);
      assert.equal(await succeed(world, ["label", "configmap", "a", "team=blue"]), "configmap/a labeled\n");
      const { stderr } = await fail(world, ["label", "configmap", "a", "team=red"]);
      assert.match(stderr, /already has a value \(blue\), and --overwrite is false/);
      assert.equal(await succeed(world, ["annotate", "configmap", "a", "note=x"]), "configmap/a annotated\n");
      assert.equal(await succeed(world, ["label", "configmap", "a", "team-"]), "configmap/a unlabeled\n");
      assert.equal(await succeed(world, ["get", "configmap", "--selector=team", "--output=name"]), "");
    }),
    behaviour("patch in all three types", async (world) => {
      const namespace = await world.namespace();
      await succeed(world, ["create", "configmap", "a", "--from-literal=k=1"]);
      const patch = (type: string, body: unknown) =>
        succeed(world, ["patch", "configmap", "a", `--type=${type}`, `--patch=${JSON.stringify(body)}`]);
      assert.equal(await patch("merge", { data: { k: "2" } }), "configmap/a patched\n");
      assert.equal(await patch("strategic", { data: { l: "3" } }), "configmap/a patched\n");
      assert.equal(await patch("json", [{ op: "remove", path: "/data/k" }]), "configmap/a patched\n");
      assert.equal(await patch("merge", { data: { l: "3" } }), "configmap/a patched (no change)\n");
      assert.deepEqual((await world.kube.get(configMaps, { namespace, name: "a" })).data, { l: "3" });
    }),
    behaviour("edit writes back what the editor left", async (world) => {
      const namespace = await world.namespace();
      await succeed(world, ["create", "configmap", "a", "--from-literal=k=before"]);
      await withEditor("before", "after", async (editor) => {
        const text = await succeed(world, ["edit", "configmap", "a"], { env: { KUBE_EDITOR: editor } });
        assert.equal(text, "configmap/a edited\n");
      });
      assert.deepEqual((await world.kube.get(configMaps, { namespace, name: "a" })).data, { k: "after" });
    }),
    behaviour("replace writes a whole object", async (world) => {
      const namespace = await world.namespace();
      await succeed(world, ["create", "configmap", "colors", "--from-literal=k=1"]);
      const text = await succeed(world, ["replace", ...fromInput], input(colors(namespace, { l: "2" })));
      assert.equal(text, "configmap/colors replaced\n");
    }),
    behaviour("delete by name, by selector and by file", async (world) => {
      const namespace = await world.namespace();
      for (const name of ["a", "b", "c"])
        await world.kube.create(configMaps, configMap(namespace, name, {}, { mine: "yes" }));
      assert.match(await succeed(world, ["delete", "configmap", "a"]), /^configmap "a" deleted/);
      assert.match(
        await succeed(world, ["delete", ...fromInput], input(configMap(namespace, "b"))),
        /^configmap "b" deleted/,
      );
      assert.match(await succeed(world, ["delete", "configmaps", "--selector=mine"]), /^configmap "c" deleted/);
      await succeed(world, ["delete", "configmap", "a", "--ignore-not-found"]);
      const { stderr } = await fail(world, ["delete", "configmap", "a"]);
      assert.equal(stderr, 'Error from server (NotFound): configmaps "a" not found\n');
    }),
    behaviour("describe shows an object, its events and nothing of a Secret's values", async (world) => {
      const namespace = await world.namespace();
      const made = await makeWidget(world);
      const about = { apiVersion: made.apiVersion, kind: made.kind, namespace, name: "a", uid: made.metadata.uid };
      const event = {
        apiVersion: "v1",
        kind: "Event",
        metadata: { namespace, name: "a.1" },
        involvedObject: about,
        reason: "Rotated",
        message: "a new key is in use",
        type: "Normal",
      };
      await succeed(world, ["create", ...fromInput], input(event));
      const type = await widgets(world);
      const text = await succeed(world, ["describe", `${type.plural}.${type.group}`, "a"]);
      assert.match(text, /^Name: +a$/m);
      assert.match(text, /^Spec:$/m);
      assert.match(text, /Normal +Rotated .*a new key is in use$/m);
      await world.kube.create(secrets, secret(namespace, "s", { stringData: { key: "canary" } }));
      const described = await succeed(world, ["describe", "secret", "s"]);
      assert.match(described, /^key: +6 bytes$/m);
      assert.ok(!described.includes("canary"));
    }),
    behaviour("wait for a condition, for a value and for deletion", async (world) => {
      const namespace = await world.namespace();
      const type = await widgets(world);
      await makeWidget(world);
      const resource = `${type.plural}.${type.group}/a`;
      const status = {
        type: "merge",
        body: { status: { phase: "Done", conditions: [{ type: "Ready", status: "True" }] } },
      } as const;
      const waiting = succeed(world, ["wait", resource, "--for=condition=Ready", "--timeout=20s"]);
      await world.kube.patch(type, { namespace, name: "a" }, status, { subresource: "status" });
      assert.match(await waiting, /condition met$/m);
      await succeed(world, ["wait", resource, "--for=jsonpath={.status.phase}=Done", "--timeout=20s"]);
      const gone = succeed(world, ["wait", resource, "--for=delete", "--timeout=20s"]);
      await world.kube.delete(type, { namespace, name: "a" });
      await gone;
      const { stderr } = await fail(world, ["wait", "--for=condition=Ready", resource, "--timeout=1s"]);
      assert.match(stderr, /NotFound/);
    }),
    behaviour("explain reads the schema of built-in and custom kinds", async (world) => {
      const text = await succeed(world, ["explain", "deployment.spec.replicas"]);
      assert.match(text, /^FIELD: replicas <integer>$/m);
      const type = await widgets(world);
      await settles(async () => {
        const own = await succeed(world, ["explain", `${type.plural}.spec`, `--api-version=${type.group}/v1`]);
        assert.match(own, /^KIND: +Widget$/m);
        assert.match(own, /^ +owner\t<string> -required-$/m);
      });
    }),
    behaviour("events lists what happened", async (world) => {
      const namespace = await world.namespace();
      await succeed(world, ["create", "configmap", "a"]);
      const event = {
        apiVersion: "v1",
        kind: "Event",
        metadata: { namespace, name: "a.1" },
        involvedObject: { apiVersion: "v1", kind: "ConfigMap", namespace, name: "a" },
        reason: "Rotated",
        message: "a new key is in use",
        type: "Normal",
        lastTimestamp: "2026-01-01T00:00:00Z",
      };
      await succeed(world, ["create", ...fromInput], input(event));
      const text = await succeed(world, ["events", "--for=configmap/a"]);
      assert.match(text, /Normal +Rotated +ConfigMap\/a +a new key is in use$/m);
    }),
    behaviour("auth can-i and auth whoami", async (world) => {
      assert.equal(await succeed(world, ["auth", "can-i", "create", "secrets"]), "yes\n");
      assert.match(await succeed(world, ["auth", "whoami"]), /Groups +.*system:masters/);
    }),
    behaviour("dry-run=server answers and leaves nothing", async (world) => {
      const namespace = await world.namespace();
      const text = await succeed(world, ["create", "configmap", "a", "--dry-run=server"]);
      assert.equal(text, "configmap/a created (server dry run)\n");
      assert.ok(await isGone(world.kube.get(configMaps, { namespace, name: "a" })));
    }),
    behaviour("create namespace, use it, delete it and wait", async (world) => {
      const name = world.unique("made-by-kubectl");
      assert.equal(await succeed(world, ["create", "namespace", name]), `namespace/${name} created\n`);
      await succeed(world, ["create", "configmap", "a", "--namespace", name]);
      assert.match(await succeed(world, ["get", "namespace", name]), /Active/);
      assert.match(await succeed(world, ["delete", "namespace", name]), /deleted/);
      await fail(world, ["get", "namespace", name]);
    }),
  ],
};
