import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at, settles } from "../expectations.ts";
import { deployments } from "../kinds.ts";
import { deployment, secret, statefulSet } from "../manifests.ts";
import { fail, fromInput, input, succeed } from "../run-kubectl.ts";

/** What people type about workloads; the last behaviour is a session from beginning to end. */
export const kubectlWorkloads: BehaviourGroup = {
  name: "kubectl and workloads",
  needs: "kubectl",
  behaviours: [
    behaviour("describe of a Deployment and a Pod", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(deployments, deployment(namespace, "web", { replicas: 1 }));
      await succeed(world, ["rollout", "status", "deployment/web", "--timeout=20s"]);
      const text = await succeed(world, ["describe", "deployment", "web"]);
      assert.match(text, /^Replicas: +1 desired \| 1 updated \| 1 total \| 1 available \| 0 unavailable$/m);
      const pod = await succeed(world, ["describe", "pods", "--selector=app=web"]);
      assert.match(pod, /^Status: +Running$/m);
    }),
    behaviour("rollout status, restart, history, undo, pause and resume of a Deployment", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(deployments, deployment(namespace, "web"));
      const rollout = (...args: string[]) => succeed(world, ["rollout", ...args]);
      const status = ["status", "deployment/web", "--timeout=20s"];
      assert.match(await rollout(...status), /deployment "web" successfully rolled out\n$/);
      assert.equal(await rollout("restart", "deployment/web"), "deployment.apps/web restarted\n");
      assert.match(await rollout(...status), /successfully rolled out\n$/);
      assert.match(await rollout("history", "deployment/web"), /^1 +<none>\n2 +<none>$/m);
      assert.equal(await rollout("undo", "deployment/web"), "deployment.apps/web rolled back\n");
      assert.match(await rollout(...status), /successfully rolled out\n$/);
      const read = await world.kube.get(deployments, { namespace, name: "web" });
      assert.equal(read.metadata.annotations?.["deployment.kubernetes.io/revision"], "3");
      assert.equal(at(read, "spec", "template", "metadata", "annotations"), undefined);
      assert.equal(await rollout("pause", "deployment/web"), "deployment.apps/web paused\n");
      assert.equal(await rollout("resume", "deployment/web"), "deployment.apps/web resumed\n");
    }),
    behaviour("rollout restart and status of a StatefulSet", async (world) => {
      const namespace = await world.podNamespace();
      await succeed(world, ["create", ...fromInput], input(statefulSet(namespace, "db")));
      const status = ["rollout", "status", "statefulset/db", "--timeout=30s"];
      const complete = /(rolling update complete 2 pods at revision|partitioned roll out complete: 2 new pods)/;
      assert.match(await succeed(world, status), complete);
      assert.equal(await succeed(world, ["rollout", "restart", "statefulset/db"]), "statefulset.apps/db restarted\n");
      assert.match(await succeed(world, status), complete);
    }),
    behaviour("scale and set image", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(deployments, deployment(namespace, "web", { replicas: 1 }));
      assert.equal(await succeed(world, ["scale", "deployment/web", "--replicas=3"]), "deployment.apps/web scaled\n");
      const image = ["set", "image", "deployment/web", "main=registry.invalid/app:2"];
      assert.equal(await succeed(world, image), "deployment.apps/web image updated\n");
      await succeed(world, ["rollout", "status", "deployment/web", "--timeout=20s"]);
      const images = "--output=jsonpath={.items[*].spec.containers[0].image}";
      await settles(async () => {
        const running = await succeed(world, ["get", "pods", "--field-selector=status.phase=Running", images]);
        assert.equal(running, Array(3).fill("registry.invalid/app:2").join(" "));
      });
    }),
    behaviour("get all shows the workload and what it made", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(deployments, deployment(namespace, "web", { replicas: 1 }));
      await succeed(world, ["rollout", "status", "deployment/web", "--timeout=20s"]);
      const text = await succeed(world, ["get", "all"]);
      assert.match(text, /^pod\/web-\S+ +1\/1 +Running +0 +\d+s$/m);
      assert.match(text, /^deployment\.apps\/web +1\/1 +1 +1 +\d+s$/m);
      assert.match(text, /^replicaset\.apps\/web-\S+ +1 +1 +1 +\d+s$/m);
    }),
    behaviour("logs and exec of a simulated pod fail with a message, not with a hang", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(deployments, deployment(namespace, "web", { replicas: 1 }));
      await succeed(world, ["rollout", "status", "deployment/web", "--timeout=20s"]);
      const { stderr } = await fail(world, ["logs", "deployment/web"]);
      assert.match(stderr, /[Ee]rror/);
    }),
    behaviour("a whole session: apply, watch, describe, annotate, patch, wait, delete", async (world) => {
      const namespace = await world.podNamespace();
      const manifest = {
        apiVersion: "v1",
        kind: "List",
        items: [
          secret(namespace, "key", { stringData: { token: "one" } }),
          deployment(namespace, "web", { replicas: 2 }),
        ],
      };
      assert.match(
        await succeed(world, ["apply", ...fromInput], input(manifest)),
        /^secret\/key created\ndeployment\.apps\/web created\n$/,
      );
      // All of them: kubectl keeps the first event of a single one to itself, which may be the one that matters.
      const seen = await world.kubectl(["get", "deployments", "--watch", "--no-headers"], {
        until: (text) => /^web +2\/2 +2 +2 /m.test(text),
      });
      assert.match(seen.stdout, /^web +2\/2 +2 +2 /m);
      assert.match(await succeed(world, ["describe", "deployment", "web"]), /^Name: +web$/m);
      assert.match(
        await succeed(world, ["wait", "deployment/web", "--for=condition=Available", "--timeout=20s"]),
        /condition met/,
      );
      await succeed(world, ["annotate", "secret", "key", "keyturn.dev/rotate=now"]);
      const patch = JSON.stringify({ stringData: { token: "two" } });
      assert.equal(await succeed(world, ["patch", "secret", "key", `--patch=${patch}`]), "secret/key patched\n");
      const token = await succeed(world, [
        "get",
        "secret",
        "key",
        "--output=go-template={{.data.token | base64decode}}",
      ]);
      assert.equal(token, "two");
      await succeed(world, ["rollout", "restart", "deployment/web"]);
      await succeed(world, ["rollout", "status", "deployment/web", "--timeout=20s"]);
      const deleted = await succeed(world, ["delete", ...fromInput], input(manifest));
      assert.match(deleted, /secret "key" deleted/);
      await succeed(world, ["wait", "pods", "--selector=app=web", "--for=delete", "--timeout=20s"]);
      assert.equal(await succeed(world, ["get", "deployments,replicasets,pods", "--output=name"]), "");
    }),
  ],
};
