/** What the opening of a story needs of whoever plays it. */
interface Player<Act> {
  readonly world: { populate(): Promise<unknown>; readonly clock: { advance(ms: number): void } };
  settle(): Promise<unknown>;
  person(act: Act): Promise<unknown>;
}

const MINUTE_MS = 60_000;

/** Everything is there, and known. */
export async function settled(player: Omit<Player<never>, "person">): Promise<void> {
  await player.world.populate();
  await player.settle();
  player.world.clock.advance(MINUTE_MS);
}

/** These have happened one after the other, and each has come to rest. */
export const after =
  <Act>(...acts: readonly Act[]) =>
  async (player: Player<Act>): Promise<void> => {
    await settled(player);
    for (const act of acts) {
      await player.person(act);
      await player.settle();
      player.world.clock.advance(MINUTE_MS);
    }
  };
