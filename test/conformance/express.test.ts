import { audit } from './audit.ts'
import { express } from './targets/express.ts'

for (const target of express) audit(target)
