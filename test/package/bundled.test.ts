import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { expect, test } from 'vitest'
import { chatScript } from '../../.ci/pages.ts'
import config from '../../.ci/rolldown.config.ts'
import manifest from '../../package.json' with { type: 'json' }

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PAGE = ['main.tsx', 'model/graph-layout.ts'].map((file) => `${ROOT}src/ops/devtools/page/${file}`)

const inEntries = (): readonly string[] => {
  const external = [config].flat()[0]!.external as RegExp
  return Object.keys(manifest.devDependencies).filter((name) => !external.test(name))
}

/** Those whose code is in what a build writes. A package may bring others inside it. */
async function packagesIn(options: BuildOptions): Promise<readonly string[]> {
  const settings = { bundle: true, outdir: ROOT, logLevel: 'error', ...options } as const
  const { metafile } = await build({ ...settings, write: false, metafile: true })
  return Object.values(metafile.outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []))
    .flatMap((file) => [...file.matchAll(/node_modules\/((?:@[^/]+\/)?[^/.][^/]*)\//g)].at(-1)?.[1] ?? [])
}

test('BUNDLED.md has the license of each package whose code is in `dist`', async () => {
  const sections = readFileSync(`${ROOT}BUNDLED.md`, 'utf8').split('\n## ').slice(1)
  const licenses = new Map(
    sections.map((section): [string, string] => {
      const [name = '', ...lines] = section.split('\n')
      return [name, lines.join('\n').trim()]
    }),
  )
  const inPages = await Promise.all([{ entryPoints: PAGE }, chatScript].map(packagesIn))
  const bundled = [...new Set([...inEntries(), ...inPages.flat()])]
  expect([...licenses.keys()].sort()).toEqual(bundled.sort())
  for (const [name, license] of licenses) {
    const file = `${ROOT}node_modules/${name}/LICENSE`
    expect(license, name).toContain('Permission is hereby granted, free of charge')
    // One package has it in its README only.
    if (existsSync(file))
      expect(plain(license), name).toBe(plain(readFileSync(file, 'utf8').replaceAll('\r\n', '\n').trim()))
  }
})

/** A license with headings has smaller ones there. */
const plain = (text: string): string => text.replace(/^#+ /gm, '')
