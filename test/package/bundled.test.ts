import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import config from '../../rolldown.config.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PAGE = ['main.tsx', 'model/graph-layout.ts'].map((file) => `${ROOT}src/devtools/page/${file}`)

const inEntries = (): readonly string[] => {
  const external = [config].flat()[0]!.external as RegExp
  return Object.keys(manifest.devDependencies).filter((name) => !external.test(name))
}

async function inPage(): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: PAGE,
    bundle: true,
    write: false,
    outdir: ROOT,
    metafile: true,
    logLevel: 'error',
  })
  const packages = Object.keys(metafile.inputs).flatMap(
    (file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [],
  )
  return [...new Set(packages)]
}

test('BUNDLED.md has the license of each package whose code is in `dist`', async () => {
  const sections = readFileSync(`${ROOT}BUNDLED.md`, 'utf8').split('\n## ').slice(1)
  const licenses = new Map(
    sections.map((section): [string, string] => {
      const [name = '', ...lines] = section.split('\n')
      return [name, lines.join('\n').trim()]
    }),
  )
  const bundled = [...inEntries(), ...(await inPage())]
  expect([...licenses.keys()].sort()).toEqual(bundled.sort())
  for (const [name, license] of licenses) {
    const file = `${ROOT}node_modules/${name}/LICENSE`
    expect(license, name).toContain('Permission is hereby granted, free of charge')
    // One package has it in its README only.
    if (existsSync(file))
      expect(license, name).toBe(readFileSync(file, 'utf8').replaceAll('\r\n', '\n').trim())
  }
})
