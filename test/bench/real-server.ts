import { buildClusterTools } from "../cluster/build.ts";
import { startControlPlane } from "../cluster/control-plane.ts";
import { BUILT_MAIN } from "../support/keyturn-process.ts";
import { RotationWorld, type RotationWorldOptions } from "./rotation-world.ts";

/** A world that has to be closed. */
interface Closable {
  close(): Promise<void>;
}

/** Runs a bench on a real control plane of its own, with what `npm run build` made, and takes everything down again. */
export async function inRealWorld<World extends Closable, Result>(
  open: (kubeconfig: string, main: string) => Promise<World>,
  bench: (world: World) => Promise<Result>,
): Promise<Result> {
  const controlPlane = await startControlPlane(await buildClusterTools((line) => console.log(line)));
  try {
    const world = await open(controlPlane.kubeconfig, BUILT_MAIN);
    try {
      return await bench(world);
    } finally {
      await world.close();
    }
  } finally {
    await controlPlane.stop();
  }
}

/** The same for rotations. */
export const onRealServer = <Result>(
  options: Pick<RotationWorldOptions, "family" | "wayOutside">,
  bench: (world: RotationWorld) => Promise<Result>,
): Promise<Result> => inRealWorld((kubeconfig, main) => RotationWorld.open({ kubeconfig, main, ...options }), bench);
