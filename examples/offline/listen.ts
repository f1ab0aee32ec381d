import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createProvider } from './create-provider.ts'

/** Starts the provider and makes this process's SDKs call it. It does not keep the process alive. */
export async function listen(): Promise<void> {
  const server = createProvider().listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const variables = {
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: `${origin}/v1`,
    ANTHROPIC_API_KEY: 'none',
    ANTHROPIC_BASE_URL: origin,
  }
  Object.assign(process.env, variables)
}
