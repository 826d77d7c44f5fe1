import { buildClusterTools } from "../cluster/build.ts";
import { startControlPlane } from "../cluster/control-plane.ts";
import { BUILT_MAIN } from "../support/keyturn-process.ts";
import { RotationWorld } from "./rotation-world.ts";

/** Runs a bench on a real control plane of its own, with what `npm run build` made, and takes everything down again. */
export async function onRealServer(bench: (world: RotationWorld) => Promise<void>): Promise<void> {
  const controlPlane = await startControlPlane(await buildClusterTools((line) => console.log(line)));
  try {
    const world = await RotationWorld.open({ kubeconfig: controlPlane.kubeconfig, main: BUILT_MAIN });
    try {
      await bench(world);
    } finally {
      await world.close();
    }
  } finally {
    await controlPlane.stop();
  }
}
