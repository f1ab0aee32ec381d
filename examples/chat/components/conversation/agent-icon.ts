import { AudioLines, Bot, type LucideIcon, Mail, Network } from 'lucide-react'

const ICONS: Readonly<Record<string, LucideIcon>> = { agent: Network, secretary: Mail, echo: AudioLines }

/** The icon of an agent. */
export const agentIcon = (id: string): LucideIcon => ICONS[id] ?? Bot
