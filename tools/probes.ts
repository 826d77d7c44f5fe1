/** Says of each thing that is tried how it went, and at the end how many: the lines that .ci/run reads. */
export class Probes {
  #passed = 0;
  #failed = 0;

  /** `probe` resolves to something worth saying, or rejects with what is wrong. Resolves to whether it went well. */
  async try(name: string, probe: () => Promise<string | undefined>): Promise<boolean> {
    const startedAt = Date.now();
    try {
      const said = await probe();
      this.#passed++;
      console.log(`✓ ${name}${said ? `: ${said}` : ""} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
      return true;
    } catch (error) {
      this.#failed++;
      console.log(`✗ ${name}\n${error instanceof Error ? error.message : error}`);
      return false;
    }
  }

  close(): void {
    console.log(`${this.#passed} passed, ${this.#failed} failed`);
    process.exitCode = this.#failed > 0 ? 1 : 0;
  }
}
