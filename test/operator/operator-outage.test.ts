import { test } from "node:test";
import { buildClusterTools } from "../cluster/build.ts";
import { startControlPlane } from "../cluster/control-plane.ts";
import { surviveOutage } from "./outage.ts";

const isAsked = process.env.KEYTURN_TEST_CLUSTER === "yes";
const skip = !isAsked && "needs a real control plane: npm run test:cluster";

test("the operator outlives an outage of a real API server", { skip, timeout: 120_000 }, async () => {
  const cluster = await startControlPlane(await buildClusterTools(() => {}));
  const ends: (() => Promise<void>)[] = [];
  let hasPassed = false;
  try {
    const mortal = {
      name: "real",
      kubeconfig: cluster.kubeconfig,
      stop: () => cluster.stopApiServer(),
      start: () => cluster.startApiServer(),
    } as const;
    await surviveOutage(mortal, (end) => void ends.push(end));
    hasPassed = true;
  } finally {
    for (const end of ends) await end();
    await cluster.stop({ keepLogs: !hasPassed });
  }
});
