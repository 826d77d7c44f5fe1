import type { ControllerSettings } from "../../src/reconcile/controller-settings.ts";
import { createRestartController } from "../../src/reconcile/restart/restart-controller.ts";
import { RestartKnowledge } from "../../src/reconcile/restart/restart-knowledge.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import { BtpWorld } from "./btp-world.ts";
import { WorldOperator } from "./world-operator.ts";

/** Bindings, workloads, and an operator that rotates the ones and restarts the others. */
export class RestartingWorld extends BtpWorld {
  override createControllers(settings: ControllerSettings): readonly Controller[] {
    const told = { ...settings, knowledge: new RestartKnowledge(settings.restart) };
    return [createRestartController(told), ...super.createControllers(told)];
  }

  /** With the binding `orders`, whose first key is published; until the test is over. */
  async begin(
    context: { after: (done: () => Promise<void>) => void },
    rotation: Readonly<Record<string, string>>,
  ): Promise<WorldOperator> {
    this.server.start();
    await this.populate();
    const operator = new WorldOperator(this);
    context.after(async () => {
      await operator.stop();
      await this.server.stop();
    });
    await this.create("orders", { rotation });
    await this.clock.advance(5000);
    return operator;
  }
}
