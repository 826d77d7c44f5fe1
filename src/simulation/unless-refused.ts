import { Conflict, Invalid, NotFound } from "../kube/errors.ts";

/** What a person is refused stays undone. */
export async function unlessRefused(perform: () => Promise<void>): Promise<void> {
  try {
    await perform();
  } catch (error) {
    const isRefused = error instanceof NotFound || error instanceof Conflict || error instanceof Invalid;
    if (!isRefused) throw error;
  }
}
