import { createRequire } from 'node:module'
import vm from 'node:vm'

export type Program = typeof import('./program.ts')

const require = createRequire(import.meta.url)

/** Gives the program's exports, anew with each call. */
export function programOf(text: string): () => Program {
  const script = new vm.Script(`(function (require, module, exports) {${text}\n})`, {
    filename: 'program.cjs',
  })
  return () => {
    const module = { exports: {} }
    script.runInThisContext()(require, module, module.exports)
    return module.exports as Program
  }
}
