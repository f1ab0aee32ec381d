import type { Reporter, TestSpecification } from 'vitest/node'
import { groups } from './groups.ts'

/** Says at the end of `npm test` what it has left out, in one line. */
export class LeftOut implements Reporter {
  #isWhole = false

  onTestRunStart(files: readonly TestSpecification[]): void {
    const { source, alone } = groups()
    this.#isWhole = files.length === source.length + alone.length
  }

  onTestRunEnd(): void {
    if (!this.#isWhole) return
    const { servers, adapters, programs, browser } = groups()
    console.log(
      `Left out: Postgres and Redis (${servers.length} files), the other adapters (${adapters.length}), programs (${programs.length}), Chromium (${browser.length}), the chat's page, packages of other vendors, the built package and other versions of the peers. \`npm run test:all\` runs them, too.\n`,
    )
  }
}
