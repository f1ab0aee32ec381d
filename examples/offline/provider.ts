/**
 * Replaces OpenAI and Anthropic if there is no API key.
 *
 *     npx tsx examples/offline/provider.ts
 */
import type { AddressInfo } from 'node:net'
import { createProvider } from './create-provider.ts'

const server = createProvider()
server.listen(Number(process.env.PORT ?? 4000), '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  console.log('export OPENAI_API_KEY=none ANTHROPIC_API_KEY=none')
  console.log(`export OPENAI_BASE_URL=${origin}/v1 ANTHROPIC_BASE_URL=${origin}`)
})
process.once('SIGTERM', () => process.exit())
