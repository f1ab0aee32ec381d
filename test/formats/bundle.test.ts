import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { formats } from '../../src/models/formats/index.ts'

const ROOT = new URL('../..', import.meta.url).pathname

async function bundled(contents: string, entry?: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT },
    bundle: true,
    minify: entry !== undefined,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    write: false,
    logLevel: 'error',
    plugins: [
      {
        name: 'entry',
        setup(setup) {
          setup.onResolve({ filter: /^entry$/ }, ({ path }) => ({ path, namespace: 'entry' }))
          setup.onLoad({ filter: /.*/, namespace: 'entry' }, () => ({ contents: entry! }))
        },
      },
    ],
  })
  return outputFiles[0]!.text
}

/** The limit in KiB, minified and gzipped, for the largest formats. The shared part takes 4 of them. */
const CEILING = 8
/** LangChain keeps items of Responses beside the content, so its messages are read with a part of that reader. */
const CEILINGS: Readonly<Record<string, number>> = { langchain: 9.6, generic: 9.4 }

test('a bundle that imports one format contains no other', async () => {
  const entry = await bundled(`export * from './src/models/formats/index.ts'`)
  // Mistral's and Bedrock's readers use those of OpenAI and Anthropic.
  const beneath: Readonly<Record<string, string>> = {
    mistral: 'openaiChat',
    bedrockInvoke: 'anthropicMessages',
  }
  for (const { name } of formats) {
    const alone = await bundled(`export { ${name} } from 'entry'`, entry)
    const inside = formats.filter((format) => alone.includes(`"${format.name}"`)).map((format) => format.name)
    expect(inside.sort()).toEqual([name, beneath[name] ?? []].flat().sort())
    expect(gzipSync(alone).length / 1024, name).toBeLessThanOrEqual(CEILINGS[name] ?? CEILING)
  }
})
