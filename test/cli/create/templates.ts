import { CHOICES, type Choices } from '../../../src/cli/create/choices.ts'

const YES_NO = [true, false]

/** Everything that can be chosen. */
export const ALL: readonly Choices[] = CHOICES.framework.flatMap((framework) =>
  CHOICES.storage.flatMap((storage) =>
    CHOICES.model.flatMap((model) =>
      YES_NO.flatMap((auth) => YES_NO.map((page) => ({ framework, storage, model, auth, page }))),
    ),
  ),
)

/** Each framework with and without a page; the other choices take turns. The first two differ the most. */
export const COVERING: readonly Choices[] = [
  { framework: 'hono', storage: 'sqlite', model: 'openai', auth: true, page: true },
  { framework: 'next', storage: 'memory', model: 'scripted', auth: false, page: true },
  { framework: 'express', storage: 'postgres', model: 'anthropic', auth: false, page: true },
  { framework: 'fastify', storage: 'redis', model: 'google', auth: true, page: true },
  { framework: 'node', storage: 'memory', model: 'scripted', auth: false, page: true },
  { framework: 'hono', storage: 'redis', model: 'anthropic', auth: false, page: false },
  { framework: 'next', storage: 'postgres', model: 'openai', auth: true, page: false },
  { framework: 'express', storage: 'memory', model: 'scripted', auth: true, page: false },
  { framework: 'fastify', storage: 'sqlite', model: 'openai', auth: false, page: false },
  { framework: 'node', storage: 'postgres', model: 'google', auth: true, page: false },
]

export const nameOf = ({ framework, storage, model, auth, page }: Choices): string =>
  [framework, storage, model, ...(auth ? ['auth'] : []), ...(page ? ['page'] : [])].join('-')
