import { audit } from './audit.ts'
import { fastify } from './targets/fastify.ts'

for (const target of fastify) audit(target)
