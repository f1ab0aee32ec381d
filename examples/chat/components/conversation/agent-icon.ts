import { AudioLines, Bot, type LucideIcon, Mail, Network } from 'lucide-react'

const ICONS: Readonly<Record<string, LucideIcon>> = { agent: Network, secretary: Mail, echo: AudioLines }

/** What stands for an agent of the page. */
export const agentIcon = (id: string): LucideIcon => ICONS[id] ?? Bot
