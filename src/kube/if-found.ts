import { NotFound } from "./errors.ts";

/** What was read; undefined where the server itself says that it is not there. */
export async function ifFound<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
