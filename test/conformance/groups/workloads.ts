import assert from "node:assert/strict";
import type { KubeObject } from "../../../src/kube/objects.ts";
import { eventually } from "../../support/eventually.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at, refused, settles } from "../expectations.ts";
import { cronJobs, daemonSets, deployments, pods, replicaSets, services, statefulSets } from "../kinds.ts";
import { deployment, podTemplate, statefulSet } from "../manifests.ts";
import { isGone } from "../watching.ts";
import type { World } from "../world.ts";

/** For a replace that must not be refused because a controller has meanwhile written the status. */
const unversioned = (object: KubeObject): KubeObject => {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
};

const restart = (at: string) => ({
  type: "strategic" as const,
  body: { spec: { template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": at } } } } },
});

/** Waits as `kubectl rollout status` does. */
async function rolledOut(world: World, namespace: string, name: string): Promise<KubeObject> {
  return eventually(`Deployment ${name} to be rolled out`, async () => {
    const object = await world.kube.get(deployments, { namespace, name });
    const wanted = at(object, "spec", "replicas");
    const count = (field: string): unknown => at(object, "status", field) ?? 0;
    const isObserved = Number(at(object, "status", "observedGeneration") ?? 0) >= (object.metadata.generation ?? 0);
    const isDone =
      isObserved &&
      count("updatedReplicas") === wanted &&
      count("replicas") === wanted &&
      count("availableReplicas") === wanted;
    return isDone ? object : undefined;
  });
}

const livePods = async (world: World, namespace: string): Promise<readonly KubeObject[]> =>
  (await world.kube.list(pods, { namespace })).items.filter((pod) => pod.metadata.deletionTimestamp === undefined);

async function updatedInOrder(world: World, namespace: string, name: string): Promise<KubeObject> {
  return eventually(`StatefulSet ${name} to be updated`, async () => {
    const object = await world.kube.get(statefulSets, { namespace, name });
    const status = (field: string): unknown => at(object, "status", field);
    const wanted = at(object, "spec", "replicas");
    const isDone =
      status("observedGeneration") === object.metadata.generation &&
      status("readyReplicas") === wanted &&
      status("updatedReplicas") === wanted &&
      status("currentRevision") === status("updateRevision");
    return isDone ? object : undefined;
  });
}

/** Workloads: pods that follow their template. */
export const workloads: BehaviourGroup = {
  name: "workloads",
  behaviours: [
    behaviour("a Deployment gets the server's defaults", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(deployments, deployment(namespace, "a", { replicas: 0 }));
      assert.equal(at(made, "spec", "revisionHistoryLimit"), 10);
      assert.equal(at(made, "spec", "progressDeadlineSeconds"), 600);
      assert.deepEqual(at(made, "spec", "strategy"), {
        type: "RollingUpdate",
        rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" },
      });
      const spec = at(made, "spec", "template", "spec");
      assert.equal(at(spec, "restartPolicy"), "Always");
      assert.equal(at(spec, "dnsPolicy"), "ClusterFirst");
      assert.equal(at(spec, "terminationGracePeriodSeconds"), 30);
      assert.deepEqual(at(spec, "containers"), [
        {
          name: "main",
          image: "registry.invalid/app:1",
          imagePullPolicy: "IfNotPresent",
          resources: {},
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
        },
      ]);
    }),
    behaviour("a Deployment makes a ReplicaSet, which makes the Pods, each owned by the next", async (world) => {
      const namespace = await world.podNamespace();
      const made = await world.kube.create(deployments, deployment(namespace, "a"));
      await rolledOut(world, namespace, "a");
      const sets = (await world.kube.list(replicaSets, { namespace })).items;
      assert.equal(sets.length, 1);
      const [set] = sets;
      assert.equal(set?.metadata.ownerReferences?.[0]?.uid, made.metadata.uid);
      assert.equal(set?.metadata.ownerReferences?.[0]?.controller, true);
      const hash = set?.metadata.labels?.["pod-template-hash"];
      assert.equal(set?.metadata.name, `a-${hash}`);
      const made2 = await livePods(world, namespace);
      assert.equal(made2.length, 2);
      for (const pod of made2) {
        assert.equal(pod.metadata.ownerReferences?.[0]?.uid, set?.metadata.uid);
        assert.equal(pod.metadata.labels?.["pod-template-hash"], hash);
        assert.equal(pod.metadata.generateName, `a-${hash}-`);
        assert.equal(at(pod, "status", "phase"), "Running");
      }
    }),
    behaviour("a rolled out Deployment says so in its status and conditions", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(deployments, deployment(namespace, "a"));
      const done = await rolledOut(world, namespace, "a");
      assert.equal(done.metadata.annotations?.["deployment.kubernetes.io/revision"], "1");
      await settles(async () => {
        const read = await world.kube.get(deployments, { namespace, name: "a" });
        const conditions = at(read, "status", "conditions") as unknown[];
        const shown = conditions.map((c) => `${at(c, "type")}=${at(c, "status")} ${at(c, "reason")}`).sort();
        assert.deepEqual(shown, ["Available=True MinimumReplicasAvailable", "Progressing=True NewReplicaSetAvailable"]);
      });
    }),
    behaviour("a changed template rolls every pod over to a new ReplicaSet", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(deployments, deployment(namespace, "a"));
      await rolledOut(world, namespace, "a");
      const before = new Set((await livePods(world, namespace)).map((pod) => pod.metadata.uid));
      await world.kube.patch(deployments, { namespace, name: "a" }, restart("2026-01-01T00:00:00Z"));
      const done = await rolledOut(world, namespace, "a");
      assert.equal(done.metadata.annotations?.["deployment.kubernetes.io/revision"], "2");
      await settles(async () => {
        const after = await livePods(world, namespace);
        assert.equal(after.length, 2);
        for (const pod of after) {
          assert.ok(!before.has(pod.metadata.uid), "every pod is new");
          assert.equal(pod.metadata.annotations?.["kubectl.kubernetes.io/restartedAt"], "2026-01-01T00:00:00Z");
        }
        const sets = (await world.kube.list(replicaSets, { namespace })).items;
        assert.deepEqual(sets.map((set) => at(set, "spec", "replicas")).sort(), [0, 2]);
      });
    }),
    behaviour("a change beside the template makes no rollout", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(deployments, deployment(namespace, "a"));
      await rolledOut(world, namespace, "a");
      const body = { metadata: { annotations: { note: "x" } }, spec: { minReadySeconds: 0, revisionHistoryLimit: 3 } };
      await world.kube.patch(deployments, { namespace, name: "a" }, { type: "merge", body });
      await rolledOut(world, namespace, "a");
      assert.equal((await world.kube.list(replicaSets, { namespace })).items.length, 1);
    }),
    behaviour("a Deployment scales up and down without a new ReplicaSet", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(deployments, deployment(namespace, "a"));
      await rolledOut(world, namespace, "a");
      for (const replicas of [3, 1]) {
        await world.kube.patch(deployments, { namespace, name: "a" }, { type: "merge", body: { spec: { replicas } } });
        await rolledOut(world, namespace, "a");
        await settles(async () => assert.equal((await livePods(world, namespace)).length, replicas));
      }
      assert.equal((await world.kube.list(replicaSets, { namespace })).items.length, 1);
    }),
    behaviour("a paused Deployment waits with its rollout", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(deployments, deployment(namespace, "a", { replicas: 1 }));
      await rolledOut(world, namespace, "a");
      const write = (body: object) =>
        world.kube.patch(deployments, { namespace, name: "a" }, { type: "strategic", body });
      await write({ spec: { paused: true } });
      await world.kube.patch(deployments, { namespace, name: "a" }, restart("2026-01-01T00:00:00Z"));
      await settles(async () => {
        const read = await world.kube.get(deployments, { namespace, name: "a" });
        assert.equal(at(read, "status", "observedGeneration"), read.metadata.generation);
      });
      assert.equal((await world.kube.list(replicaSets, { namespace })).items.length, 1);
      await write({ spec: { paused: false } });
      await rolledOut(world, namespace, "a");
      assert.equal((await world.kube.list(replicaSets, { namespace })).items.length, 2);
    }),
    behaviour("Recreate takes the old pods down before the new ones come up", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(deployments, deployment(namespace, "a", { strategy: { type: "Recreate" } }));
      await rolledOut(world, namespace, "a");
      const { resourceVersion } = await world.kube.list(pods, { namespace });
      const watching = world.watch(pods, { namespace, resourceVersion });
      await world.kube.patch(deployments, { namespace, name: "a" }, restart("2026-01-01T00:00:00Z"));
      const order: string[] = [];
      while (order.filter((type) => type === "ADDED").length < 2) {
        const event = await watching.next();
        if (event?.type === "ADDED" || event?.type === "DELETED") order.push(event.type);
      }
      assert.deepEqual(order, ["DELETED", "DELETED", "ADDED", "ADDED"]);
    }),
    behaviour("a pod that is deleted is replaced", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(deployments, deployment(namespace, "a", { replicas: 1 }));
      await rolledOut(world, namespace, "a");
      const [first] = await livePods(world, namespace);
      await world.kube.delete(pods, { namespace, name: first?.metadata.name ?? "" });
      await settles(async () => {
        const [second, ...others] = await livePods(world, namespace);
        assert.ok(second !== undefined && second.metadata.uid !== first?.metadata.uid);
        assert.deepEqual(others, []);
      });
    }),
    behaviour("a Deployment's selector cannot change", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(deployments, deployment(namespace, "a", { replicas: 0 }));
      const template = podTemplate("b");
      const spec = { ...(made.spec as object), selector: { matchLabels: { app: "b" } }, template };
      await refused(world.kube.replace(deployments, { ...unversioned(made), spec }), {
        status: 422,
        code: "Invalid",
        fields: ["spec.selector"],
        message: /field is immutable/,
      });
    }),
    behaviour("a selector must match the template's labels", async (world) => {
      const namespace = await world.namespace();
      const draft = deployment(namespace, "a", { selector: { matchLabels: { app: "other" } } });
      await refused(world.kube.create(deployments, draft), {
        status: 422,
        code: "Invalid",
        fields: ["spec.template.metadata.labels"],
        message: /`selector` does not match template `labels`/,
      });
    }),
    behaviour("a Deployment without selector, labels and containers is told everything at once", async (world) => {
      const namespace = await world.namespace();
      const draft = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { namespace, name: "a" },
        spec: { template: {} },
      };
      const error = await refused(world.kube.create(deployments, draft), { status: 422, code: "Invalid" });
      const fields = error.causes.map((cause) => cause.field);
      for (const field of ["spec.selector", "spec.template.spec.containers"]) assert.ok(fields.includes(field), field);
    }),
    behaviour("a wrong type in a built-in kind is refused as BadRequest", async (world) => {
      const namespace = await world.namespace();
      const draft = deployment(namespace, "a", { replicas: "two" });
      await refused(world.kube.create(deployments, draft), {
        status: 400,
        code: "BadRequest",
        message:
          /Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field/,
      });
    }),
    behaviour("a StatefulSet makes its pods by number, one after the other", async (world) => {
      const namespace = await world.podNamespace();
      const { resourceVersion } = await world.kube.list(pods, { namespace });
      const watching = world.watch(pods, { namespace, resourceVersion });
      await world.kube.create(statefulSets, statefulSet(namespace, "s", { replicas: 3 }));
      const added: string[] = [];
      while (added.length < 3) {
        const event = await watching.next();
        if (event?.type === "ADDED") added.push(event.object.metadata.name);
      }
      assert.deepEqual(added, ["s-0", "s-1", "s-2"]);
      await updatedInOrder(world, namespace, "s");
      const first = await world.kube.get(pods, { namespace, name: "s-0" });
      assert.equal(first.metadata.labels?.["statefulset.kubernetes.io/pod-name"], "s-0");
      assert.equal(first.metadata.labels?.["apps.kubernetes.io/pod-index"], "0");
    }),
    behaviour("a StatefulSet updates from the highest number down and keeps the names", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(statefulSets, statefulSet(namespace, "s"));
      const before = await updatedInOrder(world, namespace, "s");
      const { resourceVersion } = await world.kube.list(pods, { namespace });
      const watching = world.watch(pods, { namespace, resourceVersion });
      await world.kube.patch(statefulSets, { namespace, name: "s" }, restart("2026-01-01T00:00:00Z"));
      // A controller that is behind may make one of the old revision once more, and delete it again.
      const added = new Set<string>();
      while (added.size < 2) {
        const event = await watching.next();
        if (event?.type === "ADDED") added.add(event.object.metadata.name);
      }
      assert.deepEqual([...added], ["s-1", "s-0"]);
      const after = await updatedInOrder(world, namespace, "s");
      assert.notEqual(at(after, "status", "updateRevision"), at(before, "status", "updateRevision"));
    }),
    behaviour("a partition holds the lower numbers back", async (world) => {
      const namespace = await world.podNamespace();
      const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 1 } };
      await world.kube.create(statefulSets, statefulSet(namespace, "s", { updateStrategy }));
      await updatedInOrder(world, namespace, "s");
      const old = await world.kube.get(pods, { namespace, name: "s-0" });
      await world.kube.patch(statefulSets, { namespace, name: "s" }, restart("2026-01-01T00:00:00Z"));
      await settles(async () => {
        const set = await world.kube.get(statefulSets, { namespace, name: "s" });
        assert.equal(at(set, "status", "updatedReplicas"), 1);
        assert.equal(at(set, "status", "readyReplicas"), 2);
      });
      const kept = await world.kube.get(pods, { namespace, name: "s-0" });
      assert.equal(kept.metadata.uid, old.metadata.uid);
    }),
    behaviour("OnDelete waits until somebody deletes the pod", async (world) => {
      const namespace = await world.podNamespace();
      const spec = { replicas: 1, updateStrategy: { type: "OnDelete" } };
      await world.kube.create(statefulSets, statefulSet(namespace, "s", spec));
      await eventually("the pod to be ready", async () => {
        const set = await world.kube.get(statefulSets, { namespace, name: "s" });
        return at(set, "status", "readyReplicas") === 1 || undefined;
      });
      const old = await world.kube.get(pods, { namespace, name: "s-0" });
      await world.kube.patch(statefulSets, { namespace, name: "s" }, restart("2026-01-01T00:00:00Z"));
      await settles(async () => {
        const set = await world.kube.get(statefulSets, { namespace, name: "s" });
        assert.equal(at(set, "status", "observedGeneration"), set.metadata.generation);
      });
      assert.equal((await world.kube.get(pods, { namespace, name: "s-0" })).metadata.uid, old.metadata.uid);
      await world.kube.delete(pods, { namespace, name: "s-0" });
      await settles(async () => {
        const fresh = await world.kube.get(pods, { namespace, name: "s-0" });
        assert.equal(fresh.metadata.annotations?.["kubectl.kubernetes.io/restartedAt"], "2026-01-01T00:00:00Z");
      });
    }),
    behaviour("a StatefulSet scales down from the top", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(statefulSets, statefulSet(namespace, "s"));
      await updatedInOrder(world, namespace, "s");
      await world.kube.patch(
        statefulSets,
        { namespace, name: "s" },
        { type: "merge", body: { spec: { replicas: 1 } } },
      );
      await eventually("s-1 to be gone", async () => {
        return (await isGone(world.kube.get(pods, { namespace, name: "s-1" }))) || undefined;
      });
      assert.equal(await isGone(world.kube.get(pods, { namespace, name: "s-0" })), false);
    }),
    behaviour("a StatefulSet's service name cannot change", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(statefulSets, statefulSet(namespace, "s", { replicas: 0 }));
      const spec = { ...(made.spec as object), serviceName: "other" };
      await refused(world.kube.replace(statefulSets, { ...unversioned(made), spec }), {
        status: 422,
        code: "Invalid",
        fields: ["spec"],
        message: /updates to statefulset spec for fields other than .* are forbidden/,
      });
    }),
    behaviour("a DaemonSet and a CronJob are kept with their defaults", async (world) => {
      const namespace = await world.namespace();
      const spec = { selector: { matchLabels: { app: "d" } }, template: podTemplate("d") };
      const metadata = { namespace, name: "d" };
      const daemon = await world.kube.create(daemonSets, { apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec });
      assert.equal(at(daemon, "spec", "updateStrategy", "type"), "RollingUpdate");
      const { spec: podSpec } = podTemplate("c") as { spec: object };
      const template = { spec: { ...podSpec, restartPolicy: "Never" } };
      const job = await world.kube.create(cronJobs, {
        apiVersion: "batch/v1",
        kind: "CronJob",
        metadata: { namespace, name: "c" },
        spec: { schedule: "0 0 31 2 *", suspend: true, jobTemplate: { spec: { template } } },
      });
      assert.equal(at(job, "spec", "concurrencyPolicy"), "Allow");
      assert.equal(at(job, "spec", "successfulJobsHistoryLimit"), 3);
    }),
    behaviour("a CronJob's schedule must be one", async (world) => {
      const namespace = await world.namespace();
      const { spec: podSpec } = podTemplate("c") as { spec: object };
      const template = { spec: { ...podSpec, restartPolicy: "Never" } };
      const draft = {
        apiVersion: "batch/v1",
        kind: "CronJob",
        metadata: { namespace, name: "c" },
        spec: { schedule: "now and then", jobTemplate: { spec: { template } } },
      };
      await refused(world.kube.create(cronJobs, draft), { status: 422, code: "Invalid", fields: ["spec.schedule"] });
    }),
    behaviour("a Service gets an address, and its ports their defaults", async (world) => {
      const namespace = await world.namespace();
      const metadata = { namespace, name: "web" };
      const spec = { selector: { app: "a" }, ports: [{ port: 80 }] };
      const made = await world.kube.create(services, { apiVersion: "v1", kind: "Service", metadata, spec });
      assert.equal(at(made, "spec", "type"), "ClusterIP");
      assert.match(String(at(made, "spec", "clusterIP")), /^\d+\.\d+\.\d+\.\d+$/);
      assert.deepEqual(at(made, "spec", "ports"), [{ port: 80, protocol: "TCP", targetPort: 80 }]);
      const headless = { ...spec, clusterIP: "None" };
      const none = await world.kube.create(services, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { namespace, name: "headless" },
        spec: headless,
      });
      assert.equal(at(none, "spec", "clusterIP"), "None");
    }),
    behaviour("a Pod's containers cannot be renamed", async (world) => {
      const namespace = await world.podNamespace();
      const metadata = { namespace, name: "p" };
      const containers = [{ name: "main", image: "registry.invalid/app:1" }];
      await world.kube.create(pods, { apiVersion: "v1", kind: "Pod", metadata, spec: { containers } });
      const body = [{ op: "replace", path: "/spec/containers/0/name", value: "other" }];
      await refused(world.kube.patch(pods, metadata, { type: "json", body }), {
        status: 422,
        code: "Invalid",
        message: /pod updates may not change fields other than|spec\.containers/,
      });
    }),
    behaviour("a Deployment without pods is complete, and names its ReplicaSet", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(deployments, deployment(namespace, "a", { replicas: 0 }));
      const condition = await eventually("the rollout to be complete", async () => {
        const conditions = at(await world.kube.get(deployments, { namespace, name: "a" }), "status", "conditions");
        const all = Array.isArray(conditions) ? conditions : [];
        return all.find((one) => at(one, "reason") === "NewReplicaSetAvailable");
      });
      assert.match(String(at(condition, "message")), /^ReplicaSet "a-[a-z0-9]+" has successfully progressed\.$/);
    }),
  ],
};
