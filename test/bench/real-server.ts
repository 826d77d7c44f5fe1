import { buildClusterTools } from "../cluster/build.ts";
import { startControlPlane } from "../cluster/control-plane.ts";
import { BUILT_MAIN } from "../support/keyturn-process.ts";
import { RotationWorld, type RotationWorldOptions } from "./rotation-world.ts";

/** Runs a bench on a real control plane of its own, with what `npm run build` made, and takes everything down again. */
export async function onRealServer<Result>(
  options: Pick<RotationWorldOptions, "family" | "wayOutside">,
  bench: (world: RotationWorld) => Promise<Result>,
): Promise<Result> {
  const controlPlane = await startControlPlane(await buildClusterTools((line) => console.log(line)));
  try {
    const world = await RotationWorld.open({ kubeconfig: controlPlane.kubeconfig, main: BUILT_MAIN, ...options });
    try {
      return await bench(world);
    } finally {
      await world.close();
    }
  } finally {
    await controlPlane.stop();
  }
}
