/** Made by scripts/refresh-models.ts: facts of 2026-11-10. catalogue-format.ts describes the format. */
export const data = `# amazon-bedrock
@ bedrock-converse https://bedrock-runtime.amazonaws.com
amazon.nova-2-lite-v1:0	Nova 2 Lite	ri	1000000	65535	0.33 2.75 0.0825 0.33
amazon.nova-lite-v1:0	Nova Lite	i	300000	10000	0.06 0.24 0.015 0.06
amazon.nova-micro-v1:0	Nova Micro		128000	10000	0.035 0.14 0.00875 0.035
amazon.nova-pro-v1:0	Nova Pro	i	300000	10000	0.8 3.2 0.2 0.8
anthropic.claude-fable-5	Claude Fable 5	ri	1000000	128000	10 50 1 12.5	off xhigh=xhigh max=max
anthropic.claude-fable-5-1	Claude Fable 5.1	ri	1000000	128000	10 50 0.25 12.5	off xhigh=xhigh max=max
anthropic.claude-fable-5-2	Claude Fable 5.2	ri	1000000	128000	8 40 0.2 10	off xhigh=xhigh max=max
anthropic.claude-haiku-4-5-20251001-v1:0	Claude Haiku 4.5	ri	200000	64000	1 5 0.1 1.25
anthropic.claude-haiku-5-5	Claude Haiku 5.5	ri	1000000	128000	0.1 0.5 0.01 0.125;100000 0.5 2.5 0.05 0.625	minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic.claude-opus-4-1-20250805-v1:0	Claude Opus 4.1	ri	200000	32000	15 75 1.5 18.75
anthropic.claude-opus-4-5-20251101-v1:0	Claude Opus 4.5	ri	200000	64000	5 25 0.5 6.25
anthropic.claude-opus-4-6-v1	Claude Opus 4.6	ri	1000000	128000	5.5 27.5 0.55 6.875	max=max
anthropic.claude-opus-4-7	Claude Opus 4.7	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
anthropic.claude-opus-4-8	Claude Opus 4.8	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
anthropic.claude-opus-5-5	Claude Opus 5.5	ri	1000000	128000	4 20 0.2 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic.claude-sonnet-4-5-20250929-v1:0	Claude Sonnet 4.5	ri	200000	64000	3 15 0.3 3.75
anthropic.claude-sonnet-4-6	Claude Sonnet 4.6	ri	1000000	128000	3.3 16.5 0.33 4.125	max=max
anthropic.claude-sonnet-5	Claude Sonnet 5	ri	1000000	128000	2 10 0.2 2.5	xhigh=xhigh max=max
anthropic.claude-sonnet-5-5	Claude Sonnet 5.5	ri	1000000	128000	2 10 0.1 2.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
apac.amazon.nova-lite-v1:0	Nova Lite (APAC)	i	300000	10000	0.063 0.252 0.01575 0.063
apac.amazon.nova-micro-v1:0	Nova Micro (APAC)		128000	10000	0.037 0.148 0.00925 0.037
apac.amazon.nova-pro-v1:0	Nova Pro (APAC)	i	300000	10000	0.84 3.36 0.21 0.84
apac.anthropic.claude-sonnet-4-20250514-v1:0	Claude Sonnet 4 (APAC)	ri	200000	64000	3 15 0.3 3.75
au.anthropic.claude-haiku-4-5-20251001-v1:0	Claude Haiku 4.5 (AU)	ri	200000	64000	1.1 5.5 0.11 1.375
au.anthropic.claude-haiku-5-5	Claude Haiku 5.5 (AU)	ri	1000000	128000	0.11 0.55 0.011 0.1375;100000 0.55 2.75 0.055 0.6875	minimal low=low medium=medium high=high xhigh=xhigh max=max
au.anthropic.claude-opus-4-6-v1	AU Anthropic Claude Opus 4.6	ri	1000000	128000	5.5 27.5 0.55 6.875	max=max
au.anthropic.claude-opus-4-7	Claude Opus 4.7 (AU)	ri	1000000	128000	5.5 27.5 0.55 6.875	xhigh=xhigh max=max
au.anthropic.claude-opus-4-8	Claude Opus 4.8 (AU)	ri	1000000	128000	5.5 27.5 0.55 6.875	xhigh=xhigh max=max
au.anthropic.claude-opus-5	Claude Opus 5 (AU)	ri	1000000	128000	5.5 27.5 0.55 6.875	xhigh=xhigh max=max
au.anthropic.claude-opus-5-5	Claude Opus 5.5 (AU)	ri	1000000	128000	4.4 22 0.22 5.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
au.anthropic.claude-sonnet-4-5-20250929-v1:0	Claude Sonnet 4.5 (AU)	ri	200000	64000	3.3 16.5 0.33 4.125
au.anthropic.claude-sonnet-4-6	AU Anthropic Claude Sonnet 4.6	ri	1000000	128000	3.3 16.5 0.33 4.125	max=max
au.anthropic.claude-sonnet-5	Claude Sonnet 5 (AU)	ri	1000000	128000	2.2 11 0.22 2.75	xhigh=xhigh max=max
au.anthropic.claude-sonnet-5-5	Claude Sonnet 5.5 (AU)	ri	1000000	128000	2.2 11 0.11 2.75	off minimal low=low medium=medium high=high xhigh=xhigh max=max
ca.amazon.nova-lite-v1:0	Nova Lite (CA)	i	300000	10000	0.064 0.256 0.016 0.064
deepseek.v3-v1:0	DeepSeek-V3.1	r	163840	81920	0.58 1.68 0 0
deepseek.v3.2	DeepSeek V3.2	r	163840	81920	0.62 1.85 0 0
eu.amazon.nova-2-lite-v1:0	Nova 2 Lite (EU)	ri	1000000	65535	0.374 3.157 0.0935 0.374
eu.amazon.nova-lite-v1:0	Nova Lite (EU)	i	300000	10000	0.069 0.276 0.01725 0.069
eu.amazon.nova-micro-v1:0	Nova Micro (EU)		128000	10000	0.04 0.16 0.01 0.04
eu.amazon.nova-pro-v1:0	Nova Pro (EU)	i	300000	10000	0.92 3.68 0.23 0.92
eu.anthropic.claude-fable-5	Claude Fable 5 (EU)	ri	1000000	128000	11 55 1.1 13.75	off xhigh=xhigh max=max
eu.anthropic.claude-haiku-4-5-20251001-v1:0	Claude Haiku 4.5 (EU)	ri	200000	64000	1.1 5.5 0.11 1.375
eu.anthropic.claude-haiku-5-5	Claude Haiku 5.5 (EU)	ri	1000000	128000	0.11 0.55 0.011 0.1375;100000 0.55 2.75 0.055 0.6875	minimal low=low medium=medium high=high xhigh=xhigh max=max
eu.anthropic.claude-opus-4-5-20251101-v1:0	Claude Opus 4.5 (EU)	ri	200000	64000	5.5 27.5 0.55 6.875
eu.anthropic.claude-opus-4-6-v1	Claude Opus 4.6 (EU)	ri	1000000	128000	5.5 27.5 0.55 6.875	max=max
eu.anthropic.claude-opus-4-7	Claude Opus 4.7 (EU)	ri	1000000	128000	5.5 27.5 0.55 6.875	xhigh=xhigh max=max
eu.anthropic.claude-opus-4-8	Claude Opus 4.8 (EU)	ri	1000000	128000	5.5 27.5 0.55 6.875	xhigh=xhigh max=max
eu.anthropic.claude-opus-5	Claude Opus 5 (EU)	ri	1000000	128000	5.5 27.5 0.55 6.875	xhigh=xhigh max=max
eu.anthropic.claude-opus-5-5	Claude Opus 5.5 (EU)	ri	1000000	128000	4.4 22 0.22 5.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
eu.anthropic.claude-sonnet-4-20250514-v1:0	Claude Sonnet 4 (EU)	ri	200000	64000	3 15 0.3 3.75
eu.anthropic.claude-sonnet-4-5-20250929-v1:0	Claude Sonnet 4.5 (EU)	ri	200000	64000	3.3 16.5 0.33 4.125
eu.anthropic.claude-sonnet-4-6	Claude Sonnet 4.6 (EU)	ri	1000000	128000	3.3 16.5 0.33 4.125	max=max
eu.anthropic.claude-sonnet-5	Claude Sonnet 5 (EU)	ri	1000000	128000	2.2 11 0.22 2.75	xhigh=xhigh max=max
eu.anthropic.claude-sonnet-5-5	Claude Sonnet 5.5 (EU)	ri	1000000	128000	2.2 11 0.11 2.75	off minimal low=low medium=medium high=high xhigh=xhigh max=max
eu.mistral.pixtral-large-2502-v1:0	Pixtral Large (25.02) (EU)	i	128000	8192	2 6 0 0
global.amazon.nova-2-lite-v1:0	Nova 2 Lite (Global)	ri	1000000	65535	0.3 2.5 0.075 0.3
global.anthropic.claude-fable-5	Claude Fable 5 (Global)	ri	1000000	128000	10 50 1 12.5	off xhigh=xhigh max=max
global.anthropic.claude-fable-5-1	Claude Fable 5.1 (Global)	ri	1000000	128000	10 50 0.25 12.5	off xhigh=xhigh max=max
global.anthropic.claude-fable-5-2	Claude Fable 5.2 (Global)	ri	1000000	128000	8 40 0.2 10	off xhigh=xhigh max=max
global.anthropic.claude-haiku-4-5-20251001-v1:0	Claude Haiku 4.5 (Global)	ri	200000	64000	1 5 0.1 1.25
global.anthropic.claude-haiku-5-5	Claude Haiku 5.5 (Global)	ri	1000000	128000	0.1 0.5 0.01 0.125;100000 0.5 2.5 0.05 0.625	minimal low=low medium=medium high=high xhigh=xhigh max=max
global.anthropic.claude-opus-4-5-20251101-v1:0	Claude Opus 4.5 (Global)	ri	200000	64000	5 25 0.5 6.25
global.anthropic.claude-opus-4-6-v1	Claude Opus 4.6 (Global)	ri	1000000	128000	5 25 0.5 6.25	max=max
global.anthropic.claude-opus-4-7	Claude Opus 4.7 (Global)	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
global.anthropic.claude-opus-4-8	Claude Opus 4.8 (Global)	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
global.anthropic.claude-opus-5	Claude Opus 5 (Global)	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
global.anthropic.claude-opus-5-5	Claude Opus 5.5 (Global)	ri	1000000	128000	4 20 0.2 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
global.anthropic.claude-sonnet-4-20250514-v1:0	Claude Sonnet 4 (Global)	ri	200000	64000	3 15 0.3 3.75
global.anthropic.claude-sonnet-4-5-20250929-v1:0	Claude Sonnet 4.5 (Global)	ri	200000	64000	3 15 0.3 3.75
global.anthropic.claude-sonnet-4-6	Claude Sonnet 4.6 (Global)	ri	1000000	128000	3 15 0.3 3.75	max=max
global.anthropic.claude-sonnet-5	Claude Sonnet 5 (Global)	ri	1000000	128000	2 10 0.2 2.5	xhigh=xhigh max=max
global.anthropic.claude-sonnet-5-5	Claude Sonnet 5.5 (Global)	ri	1000000	128000	2 10 0.1 2.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
global.moonshotai.kimi-k3	Kimi K3 (Global)	ri	1048576	128000	3 15 0.3 3.75
global.moonshotai.kimi-k3.1	Kimi K3.1 Pro Highspeed (Global)	ri	1048576	1048576	4 20 0.2 5
global.openai.gpt-5.6-luna	GPT-5.6 Luna (Global)	ri	1050000	128000	0.2 1.2 0.02 0.25;272000 0.4 1.8 0.04 0.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
global.openai.gpt-5.6-sol	GPT-5.6 Sol (Global)	ri	1050000	128000	4 20 0.4 5;272000 8 30 0.8 10	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
global.openai.gpt-5.6-terra	GPT-5.6 Terra (Global)	ri	1050000	128000	2 12 0.2 2.5;272000 4 18 0.4 5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
global.openai.gpt-6-astra	GPT-6 Astra (Global)	ri	1050000	128000	10 50 1 12.5;272000 20 75 2 25	off minimal low=low medium=medium high=high xhigh=xhigh max=max
global.openai.gpt-6-luna	GPT-6 Luna (Global)	ri	1050000	128000	0.1 0.5 0.01 0.125;272000 0.2 0.75 0.02 0.25	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
global.openai.gpt-6-sol	GPT-6 Sol (Global)	ri	1050000	128000	2 10 0.2 2.5;272000 4 15 0.4 5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
global.openai.gpt-6.1-sol	GPT-6.1 Sol (Global)	ri	1050000	128000	2 10 0.1 2.5;272000 4 15 0.2 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
global.openai.gpt-6.1-terra	GPT-6.1 Terra (Global)	ri	1050000	128000	1 5 0.05 1.25;272000 2 7.5 0.1 2.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
global.xai.grok-4.6	Grok 4.6 (Global)	ri	500000	500000	2 6 0.5 0
global.xai.grok-4.7	Grok 4.7 (Global)	ri	500000	500000	2 6 0.5 0
global.zai.glm-5.3	GLM-5.3 (Global)	r	1000000	128000	1.68 5.28 0.312 2.1
google.gemma-4-26b-a4b	Gemma 4 26B A4B IT	ri	262144	32768	0.13 0.4 0 0
google.gemma-4-31b	Gemma 4 31B IT	ri	262144	32768	0.14 0.4 0 0
google.gemma-4-e2b	Gemma 4 E2B IT	ri	131072	8192	0.04 0.08 0 0
in.anthropic.claude-haiku-4-5-20251001-v1:0	Claude Haiku 4.5 (India)	ri	200000	64000	1.1 5.5 0.11 1.375
in.anthropic.claude-opus-5	Claude Opus 5 (India)	ri	1000000	128000	5.5 27.5 0.55 6.875	xhigh=xhigh max=max
in.anthropic.claude-sonnet-5	Claude Sonnet 5 (India)	ri	1000000	128000	2.2 11 0.22 2.75	xhigh=xhigh max=max
in.openai.gpt-5.6-luna	GPT-5.6 Luna (India)	ri	1050000	128000	0.22 1.32 0.022 0.275;272000 0.44 1.98 0.044 0.55	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
in.openai.gpt-5.6-terra	GPT-5.6 Terra (India)	ri	1050000	128000	2.2 13.2 0.22 2.75;272000 4.4 19.8 0.44 5.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
jp.amazon.nova-2-lite-v1:0	Nova 2 Lite (JP)	ri	1000000	65535	0.396 3.311 0.099 0.396
jp.anthropic.claude-haiku-4-5-20251001-v1:0	Claude Haiku 4.5 (JP)	ri	200000	64000	1.1 5.5 0.11 1.375
jp.anthropic.claude-haiku-5-5	Claude Haiku 5.5 (JP)	ri	1000000	128000	0.11 0.55 0.011 0.1375;100000 0.55 2.75 0.055 0.6875	minimal low=low medium=medium high=high xhigh=xhigh max=max
jp.anthropic.claude-opus-4-7	Claude Opus 4.7 (JP)	ri	1000000	128000	5.5 27.5 0.55 6.875	xhigh=xhigh max=max
jp.anthropic.claude-opus-4-8	Claude Opus 4.8 (JP)	ri	1000000	128000	5.5 27.5 0.55 6.875	xhigh=xhigh max=max
jp.anthropic.claude-opus-5	Claude Opus 5 (JP)	ri	1000000	128000	5.5 27.5 0.55 6.875	xhigh=xhigh max=max
jp.anthropic.claude-opus-5-5	Claude Opus 5.5 (JP)	ri	1000000	128000	4.4 22 0.22 5.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
jp.anthropic.claude-sonnet-4-5-20250929-v1:0	Claude Sonnet 4.5 (JP)	ri	200000	64000	3.3 16.5 0.33 4.125
jp.anthropic.claude-sonnet-4-6	Claude Sonnet 4.6 (JP)	ri	1000000	128000	3.3 16.5 0.33 4.125	max=max
jp.anthropic.claude-sonnet-5	Claude Sonnet 5 (JP)	ri	1000000	128000	2.2 11 0.22 2.75	xhigh=xhigh max=max
meta.llama3-1-70b-instruct-v1:0	Llama 3.1 70B Instruct		128000	4096	0.72 0.72 0 0
meta.llama3-1-8b-instruct-v1:0	Llama 3.1 8B Instruct		128000	4096	0.22 0.22 0 0
meta.llama3-3-70b-instruct-v1:0	Llama 3.3 70B Instruct		128000	4096	0.72 0.72 0 0
meta.llama4-maverick-17b-instruct-v1:0	Llama 4 Maverick 17B Instruct	i	1000000	8192	0.24 0.97 0 0
meta.llama4-scout-17b-instruct-v1:0	Llama 4 Scout 17B Instruct	i	10000000	8192	0.17 0.66 0 0
minimax.minimax-m2	MiniMax-M2	r	204608	128000	0.3 1.2 0 0
minimax.minimax-m2.1	MiniMax-M2.1	r	196608	131072	0.3 1.2 0 0
minimax.minimax-m2.5	MiniMax-M2.5	r	196608	98304	0.3 1.2 0 0
mistral.devstral-2-123b	Devstral 2 123B		262144	8192	0.4 2 0 0
mistral.magistral-small-2509	Magistral Small 1.2	ri	128000	40000	0.5 1.5 0 0
mistral.ministral-3-14b-instruct	Ministral 14B 3.0	i	128000	4096	0.2 0.2 0 0
mistral.ministral-3-3b-instruct	Ministral 3 3B	i	256000	8192	0.1 0.1 0 0
mistral.ministral-3-8b-instruct	Ministral 3 8B	i	128000	4096	0.15 0.15 0 0
mistral.mistral-large-3-675b-instruct	Mistral Large 3	i	262144	8192	0.5 1.5 0 0
mistral.pixtral-large-2502-v1:0	Pixtral Large (25.02)	i	128000	8192	2 6 0 0
mistral.voxtral-mini-3b-2507	Voxtral Mini 3B 2507		32768	4096	0.04 0.04 0 0
mistral.voxtral-small-24b-2507	Voxtral Small 24B 2507		32768	8192	0.1 0.3 0 0
moonshot.kimi-k2-thinking	Kimi K2 Thinking	r	262144	16000	0.6 2.5 0 0
moonshotai.kimi-k2.5	Kimi K2.5	ri	262144	16384	0.6 3 0 0
nvidia.nemotron-nano-12b-v2	NVIDIA Nemotron Nano 12B v2 VL BF16	i	131072	8192	0.2 0.6 0 0
nvidia.nemotron-nano-3-30b	NVIDIA Nemotron Nano 3 30B	r	262144	8192	0.06 0.24 0 0
nvidia.nemotron-nano-9b-v2	NVIDIA Nemotron Nano 9B v2		131072	8192	0.06 0.23 0 0
nvidia.nemotron-super-3-120b	NVIDIA Nemotron 3 Super 120B A12B	r	262144	131072	0.15 0.65 0 0
openai.gpt-5.4	GPT-5.4	ri	1000000	128000	2.75 16.5 0.275 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
openai.gpt-5.5	GPT-5.5	ri	1000000	128000	5.5 33 0.55 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
openai.gpt-5.6-luna	GPT-5.6 Luna	ri	1050000	128000	0.22 1.32 0.022 0.275;272000 0.44 1.98 0.044 0.55	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai.gpt-5.6-sol	GPT-5.6 Sol	ri	1050000	128000	4.4 22 0.44 5.5;272000 8.8 33 0.88 11	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai.gpt-5.6-terra	GPT-5.6 Terra	ri	1050000	128000	2.2 13.2 0.22 2.75;272000 4.4 19.8 0.44 5.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai.gpt-6-astra	GPT-6 Astra	ri	1050000	128000	11 55 1.1 13.75;272000 22 82.5 2.2 27.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
openai.gpt-6-luna	GPT-6 Luna	ri	1050000	128000	0.11 0.55 0.011 0.1375;272000 0.22 0.825 0.022 0.275	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai.gpt-6-sol	GPT-6 Sol	ri	1050000	128000	2.2 11 0.22 2.75;272000 4.4 16.5 0.44 5.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai.gpt-6.1-sol	GPT-6.1 Sol	ri	1050000	128000	2.2 11 0.11 2.75;272000 4.4 16.5 0.22 5.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
openai.gpt-6.1-terra	GPT-6.1 Terra	ri	1050000	128000	1.1 5.5 0.055 1.375;272000 2.2 8.25 0.11 2.75	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai.gpt-oss-120b	gpt-oss-120b	r	131072	131072	0.15 0.6 0 0
openai.gpt-oss-120b-1:0	gpt-oss-120b	r	131072	128000	0.15 0.6 0 0
openai.gpt-oss-20b	gpt-oss-20b	r	131072	131072	0.07 0.3 0 0
openai.gpt-oss-20b-1:0	gpt-oss-20b	r	131072	128000	0.07 0.3 0 0
openai.gpt-oss-safeguard-120b	GPT OSS Safeguard 120B	r	128000	16384	0.15 0.6 0 0
openai.gpt-oss-safeguard-20b	GPT OSS Safeguard 20B	r	128000	16384	0.07 0.2 0 0
qwen.qwen3-235b-a22b-2507-v1:0	Qwen3 235B-A22B Instruct 2507		262144	131072	0.22 0.88 0 0
qwen.qwen3-32b-v1:0	Qwen3 32B	r	32768	16384	0.15 0.6 0 0
qwen.qwen3-coder-30b-a3b-v1:0	Qwen3-Coder 30B-A3B Instruct		262144	131072	0.15 0.6 0 0
qwen.qwen3-coder-480b-a35b-v1:0	Qwen3-Coder 480B-A35B Instruct		131072	65536	0.45 1.8 0 0
qwen.qwen3-coder-next	Qwen3 Coder Next		262144	65536	0.5 1.2 0 0
qwen.qwen3-next-80b-a3b	Qwen3-Next 80B-A3B Instruct		262144	262000	0.15 1.2 0 0
qwen.qwen3-vl-235b-a22b	Qwen3 VL 235B A22B Instruct	i	262144	262000	0.53 2.66 0 0
us-gov.openai.gpt-oss-120b-1:0	gpt-oss-120b (GovCloud)	r	128000	16384	0.18 0.72 0 0
us-gov.openai.gpt-oss-20b-1:0	gpt-oss-20b (GovCloud)	r	128000	16384	0.084 0.36 0 0
us.amazon.nova-2-lite-v1:0	Nova 2 Lite (US)	ri	1000000	65535	0.33 2.75 0.0825 0.33
us.amazon.nova-lite-v1:0	Nova Lite (US)	i	300000	10000	0.06 0.24 0.015 0.06
us.amazon.nova-micro-v1:0	Nova Micro (US)		128000	10000	0.035 0.14 0.00875 0.035
us.amazon.nova-premier-v1:0	Nova Premier (US)	i	1000000	10000	2.5 12.5 0.625 2.5
us.amazon.nova-pro-v1:0	Nova Pro (US)	i	300000	10000	0.8 3.2 0.2 0.8
us.anthropic.claude-fable-5	Claude Fable 5 (US)	ri	1000000	128000	11 55 1.1 13.75	off xhigh=xhigh max=max
us.anthropic.claude-fable-5-1	Claude Fable 5.1 (US)	ri	1000000	128000	11 55 0.275 13.75	off xhigh=xhigh max=max
us.anthropic.claude-fable-5-2	Claude Fable 5.2 (US)	ri	1000000	128000	8.8 44 0.22 11	off xhigh=xhigh max=max
us.anthropic.claude-haiku-4-5-20251001-v1:0	Claude Haiku 4.5 (US)	ri	200000	64000	1.1 5.5 0.11 1.375
us.anthropic.claude-haiku-5-5	Claude Haiku 5.5 (US)	ri	1000000	128000	0.11 0.55 0.011 0.1375;100000 0.55 2.75 0.055 0.6875	minimal low=low medium=medium high=high xhigh=xhigh max=max
us.anthropic.claude-opus-4-1-20250805-v1:0	Claude Opus 4.1 (US)	ri	200000	32000	15 75 1.5 18.75
us.anthropic.claude-opus-4-5-20251101-v1:0	Claude Opus 4.5 (US)	ri	200000	64000	5.5 27.5 0.55 6.875
us.anthropic.claude-opus-4-6-v1	Claude Opus 4.6 (US)	ri	1000000	128000	5.5 27.5 0.55 6.875	max=max
us.anthropic.claude-opus-4-7	Claude Opus 4.7 (US)	ri	1000000	128000	5.5 27.5 0.55 6.875	xhigh=xhigh max=max
us.anthropic.claude-opus-4-8	Claude Opus 4.8 (US)	ri	1000000	128000	5.5 27.5 0.55 6.875	xhigh=xhigh max=max
us.anthropic.claude-opus-5	Claude Opus 5 (US)	ri	1000000	128000	5.5 27.5 0.55 6.875	xhigh=xhigh max=max
us.anthropic.claude-opus-5-5	Claude Opus 5.5 (US)	ri	1000000	128000	4.4 22 0.22 5.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
us.anthropic.claude-sonnet-4-20250514-v1:0	Claude Sonnet 4 (US)	ri	200000	64000	3 15 0.3 3.75
us.anthropic.claude-sonnet-4-5-20250929-v1:0	Claude Sonnet 4.5 (US)	ri	200000	64000	3.3 16.5 0.33 4.125
us.anthropic.claude-sonnet-4-6	Claude Sonnet 4.6 (US)	ri	1000000	128000	3.3 16.5 0.33 4.125	max=max
us.anthropic.claude-sonnet-5	Claude Sonnet 5 (US)	ri	1000000	128000	2.2 11 0.22 2.75	xhigh=xhigh max=max
us.anthropic.claude-sonnet-5-5	Claude Sonnet 5.5 (US)	ri	1000000	128000	2.2 11 0.11 2.75	off minimal low=low medium=medium high=high xhigh=xhigh max=max
us.meta.llama3-1-70b-instruct-v1:0	Llama 3.1 70B Instruct (US)		128000	4096	0.72 0.72 0 0
us.meta.llama3-1-8b-instruct-v1:0	Llama 3.1 8B Instruct (US)		128000	4096	0.22 0.22 0 0
us.meta.llama3-3-70b-instruct-v1:0	Llama 3.3 70B Instruct (US)		128000	4096	0.72 0.72 0 0
us.meta.llama4-maverick-17b-instruct-v1:0	Llama 4 Maverick 17B Instruct (US)	i	1000000	8192	0.24 0.97 0 0
us.meta.llama4-scout-17b-instruct-v1:0	Llama 4 Scout 17B Instruct (US)	i	10000000	8192	0.17 0.66 0 0
us.mistral.pixtral-large-2502-v1:0	Pixtral Large (25.02) (US)	i	128000	8192	2 6 0 0
us.moonshotai.kimi-k3	Kimi K3 (US)	ri	1048576	128000	3.3 16.5 0.33 4.125
us.moonshotai.kimi-k3.1	Kimi K3.1 Pro Highspeed (US)	ri	1048576	1048576	4.4 22 0.22 5.5
us.openai.gpt-5.6-luna	GPT-5.6 Luna (US)	ri	1050000	128000	0.22 1.32 0.022 0.275;272000 0.44 1.98 0.044 0.55	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
us.openai.gpt-5.6-sol	GPT-5.6 Sol (US)	ri	1050000	128000	4.4 22 0.44 5.5;272000 8.8 33 0.88 11	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
us.openai.gpt-5.6-terra	GPT-5.6 Terra (US)	ri	1050000	128000	2.2 13.2 0.22 2.75;272000 4.4 19.8 0.44 5.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
us.openai.gpt-6-astra	GPT-6 Astra (US)	ri	1050000	128000	11 55 1.1 13.75;272000 22 82.5 2.2 27.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
us.openai.gpt-6-luna	GPT-6 Luna (US)	ri	1050000	128000	0.11 0.55 0.011 0.1375;272000 0.22 0.825 0.022 0.275	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
us.openai.gpt-6-sol	GPT-6 Sol (US)	ri	1050000	128000	2.2 11 0.22 2.75;272000 4.4 16.5 0.44 5.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
us.openai.gpt-6.1-sol	GPT-6.1 Sol (US)	ri	1050000	128000	2.2 11 0.11 2.75;272000 4.4 16.5 0.22 5.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
us.openai.gpt-6.1-terra	GPT-6.1 Terra (US)	ri	1050000	128000	1.1 5.5 0.055 1.375;272000 2.2 8.25 0.11 2.75	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
us.writer.palmyra-x4-v1:0	Palmyra X4 (US)	r	122880	8192	2.5 10 0 0
us.writer.palmyra-x5-v1:0	Palmyra X5 (US)	r	1040000	8192	0.6 6 0 0
us.xai.grok-4.6	Grok 4.6 (US)	ri	500000	500000	2.2 6.6 0.55 0
us.xai.grok-4.7	Grok 4.7 (US)	ri	500000	500000	2.2 6.6 0.55 0
us.zai.glm-5.3	GLM-5.3 (US)	r	1000000	128000	1.848 5.808 0.3432 2.31
writer.palmyra-x4-v1:0	Palmyra X4	r	122880	8192	2.5 10 0 0
writer.palmyra-x5-v1:0	Palmyra X5	r	1040000	8192	0.6 6 0 0
xai.grok-4.3	Grok 4.3	ri	1000000	131072	1.25 2.5 0.2 0
xai.grok-4.6	Grok 4.6	ri	500000	500000	2.2 6.6 0.55 0
zai.glm-4.7	GLM-4.7	r	202752	131072	0.6 2.2 0 0
zai.glm-4.7-flash	GLM-4.7-Flash	r	202752	131072	0.07 0.4 0 0
zai.glm-5	GLM-5	r	202752	131072	1 3.2 0 0
# ant-ling
@ openai-completions https://api.ant-ling.com/v1
Ling-2.6-1T	Ling 2.6 1T		262144	65536	0.06 0.25 0 0
Ling-2.6-flash	Ling 2.6 Flash		262144	65536	0.01 0.02 0 0
Ring-2.6-1T	Ring 2.6 1T	r	262144	65536	0.06 0.25 0 0	off minimal low medium high=high xhigh=xhigh
# anthropic
@ anthropic-messages https://api.anthropic.com
claude-fable-5	Claude Fable 5	ri	1000000	128000	10 50 1 12.5	off xhigh=xhigh max=max	300 3600
claude-fable-5-1	Claude Fable 5.1	ri	1000000	128000	10 50 0.25 12.5	off xhigh=xhigh max=max	300 3600
claude-fable-5-2	Claude Fable 5.2	ri	1000000	128000	8 40 0.2 10	off xhigh=xhigh max=max	300 3600
claude-haiku-4-5	Claude Haiku 4.5 (latest)	ri	200000	64000	1 5 0.1 1.25		300 3600
claude-haiku-4-5-20251001	Claude Haiku 4.5	ri	200000	64000	1 5 0.1 1.25		300 3600
claude-haiku-5-5	Claude Haiku 5.5	ri	1000000	128000	0.1 0.5 0.01 0.125;100000 0.5 2.5 0.05 0.625	minimal low=low medium=medium high=high xhigh=xhigh max=max	300 3600
claude-opus-4-5	Claude Opus 4.5 (latest)	ri	200000	64000	5 25 0.5 6.25		300 3600
claude-opus-4-5-20251101	Claude Opus 4.5	ri	200000	64000	5 25 0.5 6.25		300 3600
claude-opus-4-6	Claude Opus 4.6	ri	1000000	128000	5 25 0.5 6.25	max=max	300 3600
claude-opus-4-7	Claude Opus 4.7	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max	300 3600
claude-opus-4-8	Claude Opus 4.8	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max	300 3600
claude-opus-5	Claude Opus 5	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max	300 3600
claude-opus-5-5	Claude Opus 5.5	ri	1000000	128000	4 20 0.2 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max	300 3600
claude-sonnet-4-5	Claude Sonnet 4.5 (latest)	ri	200000	64000	3 15 0.3 3.75		300 3600
claude-sonnet-4-5-20250929	Claude Sonnet 4.5	ri	200000	64000	3 15 0.3 3.75		300 3600
claude-sonnet-4-6	Claude Sonnet 4.6	ri	1000000	128000	3 15 0.3 3.75	max=max	300 3600
claude-sonnet-5	Claude Sonnet 5	ri	1000000	128000	2 10 0.2 2.5	xhigh=xhigh max=max	300 3600
claude-sonnet-5-5	Claude Sonnet 5.5	ri	1000000	128000	2 10 0.1 2.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max	300 3600
# azure
@ openai-completions https://{AZURE_OPENAI_RESOURCE_NAME}.openai.azure.com/openai/v1
deepseek-v4-pro	DeepSeek V4 Pro	r	1000000	384000	1.925 3.828 0.165 0	minimal low=low medium=medium high=high xhigh max
@ openai-responses https://{AZURE_OPENAI_RESOURCE_NAME}.openai.azure.com/openai/v1
chat-latest	Chat Latest	ri	400000	128000	5 30 0.5 0
gpt-4	GPT-4		8192	8192	30 60 0 0
gpt-4-turbo	GPT-4 Turbo	i	128000	4096	10 30 0 0
gpt-4.1	GPT-4.1	i	1047576	32768	2 8 0.5 0
gpt-4.1-mini	GPT-4.1 mini	i	1047576	32768	0.4 1.6 0.1 0
gpt-4.1-nano	GPT-4.1 nano	i	1047576	32768	0.1 0.4 0.025 0
gpt-4o	GPT-4o	i	128000	16384	2.5 10 1.25 0
gpt-4o-2024-05-13	GPT-4o (2024-05-13)	i	128000	4096	5 15 0 0
gpt-4o-2024-08-06	GPT-4o (2024-08-06)	i	128000	16384	2.5 10 1.25 0
gpt-4o-2024-11-20	GPT-4o (2024-11-20)	i	128000	16384	2.5 10 1.25 0
gpt-4o-mini	GPT-4o mini	i	128000	16384	0.15 0.6 0.075 0
gpt-5	GPT-5	ri	400000	128000	1.25 10 0.125 0	off minimal=minimal low=low medium=medium high=high xhigh max
gpt-5-chat-latest	GPT-5 Chat Latest	i	128000	16384	1.25 10 0.125 0	off
gpt-5-mini	GPT-5 Mini	ri	400000	128000	0.25 2 0.025 0	off minimal=minimal low=low medium=medium high=high xhigh max
gpt-5-nano	GPT-5 Nano	ri	400000	128000	0.05 0.4 0.005 0	off minimal=minimal low=low medium=medium high=high xhigh max
gpt-5-pro	GPT-5 Pro	ri	400000	128000	15 120 0 0	off minimal low medium high=high xhigh max
gpt-5.1	GPT-5.1	ri	400000	128000	1.25 10 0.125 0	off=none minimal low=low medium=medium high=high xhigh max
gpt-5.2	GPT-5.2	ri	400000	128000	1.75 14 0.175 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.2-pro	GPT-5.2 Pro	ri	400000	128000	21 168 0 0	off minimal low medium=medium high=high xhigh=xhigh max
gpt-5.3-codex	GPT-5.3 Codex	ri	400000	128000	1.75 14 0.175 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.3-codex-spark	GPT-5.3 Codex Spark	ri	128000	32000	1.75 14 0.175 0	off minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4	GPT-5.4	ri	1050000	128000	2.5 15 0.25 0;272000 5 22.5 0.5 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4-mini	GPT-5.4 mini	ri	400000	128000	0.75 4.5 0.075 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4-nano	GPT-5.4 nano	ri	400000	128000	0.2 1.25 0.02 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4-pro	GPT-5.4 Pro	ri	1050000	128000	30 180 0 0;272000 60 270 0 0	off minimal low medium=medium high=high xhigh=xhigh max
gpt-5.5	GPT-5.5	ri	1050000	128000	5 30 0.5 0;272000 10 45 1 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.5-pro	GPT-5.5 Pro	ri	1050000	128000	30 180 0 0;272000 60 270 0 0	off minimal low medium=medium high=high xhigh=xhigh max
gpt-5.6-cyber	GPT-5.6 Cyber	ri	400000	128000	12.5 75 1.25 15.625	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-5.6-luna	GPT-5.6 Luna	ri	1050000	128000	0.2 1.2 0.02 0.25;272000 0.4 1.8 0.04 0.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-5.6-sol	GPT-5.6 Sol	ri	1050000	128000	4 20 0.4 5;272000 8 30 0.8 10	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-5.6-terra	GPT-5.6 Terra	ri	1050000	128000	2 12 0.2 2.5;272000 4 18 0.4 5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6-astra	GPT-6 Astra	ri	1050000	128000	10 50 1 12.5;272000 20 75 2 25	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6-luna	GPT-6 Luna	ri	1050000	128000	0.1 0.5 0.01 0.125;272000 0.2 0.75 0.02 0.25	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6-sol	GPT-6 Sol	ri	1050000	128000	2 10 0.2 2.5;272000 4 15 0.4 5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6.1-sol	GPT-6.1 Sol	ri	1050000	128000	2 10 0.1 2.5;272000 4 15 0.2 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6.1-terra	GPT-6.1 Terra	ri	1050000	128000	1 5 0.05 1.25;272000 2 7.5 0.1 2.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-daybreak-blue-latest	Daybreak Blue	ri	1050000	128000	4 20 0.4 5;272000 8 30 0.8 10	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-daybreak-red-latest	Daybreak Red	ri	400000	128000	12.5 75 1.25 15.625	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
o1		ri	200000	100000	15 60 7.5 0	off minimal low=low medium=medium high=high xhigh max
o1-pro		ri	200000	100000	150 600 0 0	off minimal low=low medium=medium high=high xhigh max
o3		ri	200000	100000	2 8 0.5 0	off minimal low=low medium=medium high=high xhigh max
o3-mini		r	200000	100000	1.1 4.4 0.55 0	off minimal low=low medium=medium high=high xhigh max
o3-pro		ri	200000	100000	20 80 0 0	off minimal low=low medium=medium high=high xhigh max
o4-mini		ri	200000	100000	1.1 4.4 0.275 0	off minimal low=low medium=medium high=high xhigh max
# baseten
@ openai-completions https://inference.baseten.co/v1
deepseek-ai/DeepSeek-V4-Flash-0731	DeepSeek V4 Flash 0731	r	1048576	384000	0.13 0.26 0.028 0	off=none minimal low=low medium high=high xhigh max=max
deepseek-ai/DeepSeek-V4-Pro-0813	DeepSeek V4 Pro 0813	r	1048576	262144	1.32 3.96 0.132 0	off=none minimal low=low medium high=high xhigh max=max
deepseek-ai/DeepSeek-V4.1-Flash	DeepSeek V4.1 Flash	ri	1048576	32768	0.3 1.2 0.007 0	off=none minimal low medium high=high xhigh max=max
deepseek-ai/DeepSeek-V4.1-Flash-1017	DeepSeek V4.1 Flash 1017	ri	1048576	262144	0.3 1.2 0.007 0	off=none minimal low=low medium=medium high=high xhigh max=max
deepseek-ai/DeepSeek-V4.1-Flash-1017-Fast	DeepSeek V4.1 Flash 1017 Fast	ri	1048576	262144	0.6 2.4 0.014 0	off=none minimal low=low medium=medium high=high xhigh max=max
deepseek-ai/DeepSeek-V4.1-Flash-Fast	DeepSeek V4.1 Flash Fast	ri	1048576	32768	0.6 2.4 0.014 0	off=none minimal low medium high=high xhigh max=max
moonshotai/Kimi-K3	Kimi K3	ri	1048576	262144	3 15 0.3 0	off=none minimal low=low medium high=high xhigh max=max
moonshotai/Kimi-K3.1-Pro	Kimi K3.1 Pro	ri	1000000	262144	2 10 0.2 0
nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B	Nemotron 3 Ultra	r	202800	202800	0.6 2.4 0.12 0	off=none minimal low medium high=high xhigh max
openai/gpt-oss-120b	OpenAI GPT 120B	r	128072	128072	0.1 0.5 0.1 0	off=none minimal=minimal low=low medium=medium high=high xhigh=xhigh max=max
zai-org/GLM-5.2	GLM 5.2	r	1048576	262144	1.4 4.4 0.14 0	off=none minimal low medium high=high xhigh max=max
zai-org/GLM-5.2-Fast	GLM 5.2 Fast	r	1048576	262144	2.1 6.6 0.21 0	off=none minimal low medium high=high xhigh max=max
zai-org/GLM-5.3	GLM 5.3	ri	1048576	262144	1.4 4.4 0.14 0	off minimal low=low medium high=high xhigh max=max
zai-org/GLM-5.3-Fast	GLM 5.3 Fast	ri	1048576	262144	2.1 6.6 0.21 0	off minimal low=low medium high=high xhigh max=max
zai-org/GLM-5.3-Flash	GLM 5.3 Flash	ri	1048576	131072	0.15 0.5 0.03 0	off minimal low=low medium high=high xhigh max=max
# cerebras
@ openai-completions https://api.cerebras.ai/v1
gpt-oss-120b	GPT OSS 120B	r	131072	40960	0.35 0.75 0.35 0	off minimal low=low medium=medium high=high xhigh max
qwen-3.8-27b	Qwen3.8 27B	ri	131072	40960	0.99 1.49 0.99 0	off=none minimal low=low medium=medium high=high xhigh max
# cloudflare-ai-gateway
@ anthropic-messages https://gateway.ai.cloudflare.com/v1/{CLOUDFLARE_ACCOUNT_ID}/{CLOUDFLARE_GATEWAY_ID}/anthropic
claude-fable-5	Claude Fable 5	ri	1000000	128000	10 50 1 12.5	off xhigh=xhigh max=max
claude-fable-5-1	Claude Fable 5.1	ri	1000000	128000	10 50 0.25 12.5	off xhigh=xhigh max=max
claude-haiku-4-5	Claude Haiku 4.5 (latest)	ri	200000	64000	1 5 0.1 1.25
claude-haiku-5-5	Claude Haiku 5.5	ri	1000000	128000	0.1 0.5 0.01 0.125;100000 0.5 2.5 0.05 0.625	xhigh=xhigh max=max
claude-opus-4-5	Claude Opus 4.5 (latest)	ri	200000	64000	5 25 0.5 6.25
claude-opus-4-6	Claude Opus 4.6	ri	1000000	128000	5 25 0.5 6.25	max=max
claude-opus-4-7	Claude Opus 4.7	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
claude-opus-4-8	Claude Opus 4.8	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
claude-opus-5	Claude Opus 5	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
claude-opus-5-5	Claude Opus 5.5	ri	1000000	128000	4 20 0.2 5	xhigh=xhigh max=max
claude-sonnet-4-5	Claude Sonnet 4.5 (latest)	ri	200000	64000	3 15 0.3 3.75
claude-sonnet-4-6	Claude Sonnet 4.6	ri	1000000	128000	3 15 0.3 3.75	max=max
claude-sonnet-5	Claude Sonnet 5	ri	1000000	128000	2 10 0.2 2.5	xhigh=xhigh max=max
claude-sonnet-5-5	Claude Sonnet 5.5	ri	1000000	128000	2 10 0.1 2.5	xhigh=xhigh max=max
@ openai-completions https://gateway.ai.cloudflare.com/v1/{CLOUDFLARE_ACCOUNT_ID}/{CLOUDFLARE_GATEWAY_ID}/compat
workers-ai/@cf/deepseek-ai/deepseek-v4-flash-0731	DeepSeek V4 Flash 0731	r	1048576	1048576	0.44 1.32 0.014 0	minimal low medium high=high max=max
workers-ai/@cf/deepseek-ai/deepseek-v4-pro-0813	DeepSeek V4 Pro 0813	r	1048576	1048576	1.32 3.96 0.044 0	minimal low medium high=high max=max
workers-ai/@cf/deepseek-ai/deepseek-v4.1-flash-1017	DeepSeek V4.1 Flash 1017	ri	1048576	1048576	0.3 1.2 0.006 0	minimal low medium high=high max=max
workers-ai/@cf/google/gemma-4-26b-a4b-it	Gemma 4 26B A4B IT	ri	256000	16384	0.1 0.3 0.05 0
workers-ai/@cf/ibm-granite/granite-4.0-h-micro	Granite 4.0 H Micro		131000	131000	0.017 0.112 0 0
workers-ai/@cf/meta/llama-3.3-70b-instruct-fp8-fast	Llama 3.3 70B Instruct fp8 Fast		24000	24000	0.293 2.253 0 0
workers-ai/@cf/meta/llama-4-scout-17b-16e-instruct	Llama 4 Scout 17B 16E Instruct	i	131000	16384	0.27 0.85 0 0
workers-ai/@cf/mistralai/mistral-small-3.1-24b-instruct	Mistral Small 3.1 24B Instruct	i	128000	128000	0.351 0.555 0 0
workers-ai/@cf/moonshotai/kimi-k2.6	Kimi K2.6	ri	262144	256000	0.95 4 0.16 0
workers-ai/@cf/moonshotai/kimi-k2.7-code	Kimi K2.7 Code	ri	262144	262144	0.95 4 0.19 0
workers-ai/@cf/nvidia/nemotron-3-120b-a12b	Nemotron 3 Super 120B	r	256000	256000	0.5 1.5 0 0
workers-ai/@cf/openai/gpt-oss-120b	GPT OSS 120B	r	128000	16384	0.35 0.75 0 0
workers-ai/@cf/openai/gpt-oss-20b	GPT OSS 20B	r	128000	16384	0.2 0.3 0 0
workers-ai/@cf/qwen/qwen3-30b-a3b-fp8	Qwen3 30B A3b fp8	r	32768	32768	0.0509 0.335 0 0
workers-ai/@cf/qwen/qwen3.8-27b	Qwen3.8 27B	ri	262144	262144	0.45 3.2 0.05 0
workers-ai/@cf/zai-org/glm-4.7-flash	GLM-4.7-Flash	r	131072	131072	0.0605 0.4 0 0
workers-ai/@cf/zai-org/glm-5.2	Glm 5.2	r	262144	256000	1.4 4.4 0.26 0
workers-ai/@cf/zai-org/glm-5.3	Glm 5.3	r	1048576	1048576	1.4 4.4 0.26 0
workers-ai/@cf/zai-org/glm-5.3-flash	Glm 5.3 Flash	ri	1048576	1048576	0.15 0.5 0.03 0
@ openai-responses https://gateway.ai.cloudflare.com/v1/{CLOUDFLARE_ACCOUNT_ID}/{CLOUDFLARE_GATEWAY_ID}/openai
gpt-4.1	GPT-4.1	i	1047576	32768	2 8 0.5 0
gpt-4.1-mini	GPT-4.1 mini	i	1047576	32768	0.4 1.6 0.1 0
gpt-4.1-nano	GPT-4.1 nano	i	1000000	32768	0.1 0.4 0.025 0
gpt-4o	GPT-4o	i	128000	16384	1.25 5 0.625 0
gpt-4o-mini	GPT-4o mini	i	128000	16384	0.075 0.3 0.0375 0
gpt-5	GPT-5	ri	128000	128000	1.25 10 0.125 0	off minimal=minimal low=low medium=medium high=high xhigh max
gpt-5-mini	GPT-5 Mini	ri	128000	128000	0.25 2 0.025 0	off minimal=minimal low=low medium=medium high=high xhigh max
gpt-5-nano	GPT-5 Nano	ri	128000	128000	0.05 0.4 0.005 0	off minimal=minimal low=low medium=medium high=high xhigh max
gpt-5.1	GPT-5.1	ri	128000	128000	1.25 10 0.125 0	off minimal low=low medium=medium high=high xhigh max
gpt-5.4	GPT-5.4	ri	1000000	128000	2.5 15 0.25 0	off minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4-mini	GPT-5.4 mini	ri	128000	128000	0.75 4.5 0.075 0	off minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4-nano	GPT-5.4 nano	ri	128000	128000	0.2 1.25 0.02 0	off minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4-pro	GPT-5.4 Pro	ri	1000000	128000	30 180 0 0	off minimal low medium=medium high=high xhigh=xhigh max
gpt-5.5	GPT-5.5	ri	1000000	128000	5 30 0 0	off minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.5-pro	GPT-5.5 Pro	ri	1000000	128000	30 180 0 0	off minimal low medium=medium high=high xhigh=xhigh max
gpt-5.6-luna	GPT-5.6 Luna	ri	1050000	128000	0.2 1.2 0.02 0.25;272000 0.4 1.8 0.04 0.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-5.6-sol	GPT-5.6 Sol	ri	1050000	128000	4 20 0.4 5;272000 8 30 0.8 10	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-5.6-terra	GPT-5.6 Terra	ri	1050000	128000	2 12 0.2 2.5;272000 4 18 0.4 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6-astra	GPT-6 Astra	ri	1050000	128000	10 50 1 12.5;272000 20 75 2 25	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6-luna	GPT-6 Luna	ri	1050000	128000	0.1 0.5 0.01 0.125;272000 0.2 0.75 0.02 0.25	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6-sol	GPT-6 Sol	ri	1050000	128000	2 10 0.2 2.5;272000 4 15 0.4 5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6.1-sol	GPT-6.1 Sol	ri	1050000	128000	2 10 0.1 2.5;272000 4 15 0.2 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6.1-terra	GPT-6.1 Terra	ri	1050000	128000	1 5 0.05 1.25;272000 2 7.5 0.1 2.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
o3		ri	200000	100000	2 8 0.5 0	off minimal low=low medium=medium high=high xhigh max
o3-mini		r	200000	100000	1.1 4.4 0.55 0	off minimal low=low medium=medium high=high xhigh max
o4-mini		ri	200000	100000	1.1 4.4 0.275 0	off minimal low=low medium=medium high=high xhigh max
# cloudflare-workers-ai
@ openai-completions https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/v1
@cf/deepseek-ai/deepseek-v4-flash-0731	DeepSeek V4 Flash 0731	r	1048576	1048576	0.44 1.32 0.014 0	minimal low medium high=high max=max
@cf/deepseek-ai/deepseek-v4-pro-0813	DeepSeek V4 Pro 0813	r	1048576	1048576	1.32 3.96 0.044 0	minimal low medium high=high max=max
@cf/deepseek-ai/deepseek-v4.1-flash-1017	DeepSeek V4.1 Flash 1017	ri	1048576	1048576	0.3 1.2 0.006 0	minimal low medium high=high max=max
@cf/google/gemma-4-26b-a4b-it	Gemma 4 26B A4B IT	ri	256000	16384	0.1 0.3 0.05 0
@cf/ibm-granite/granite-4.0-h-micro	Granite 4.0 H Micro		131000	131000	0.017 0.112 0 0
@cf/meta/llama-3.3-70b-instruct-fp8-fast	Llama 3.3 70B Instruct fp8 Fast		24000	24000	0.293 2.253 0 0
@cf/meta/llama-4-scout-17b-16e-instruct	Llama 4 Scout 17B 16E Instruct	i	131000	16384	0.27 0.85 0 0
@cf/mistralai/mistral-small-3.1-24b-instruct	Mistral Small 3.1 24B Instruct	i	128000	128000	0.351 0.555 0 0
@cf/moonshotai/kimi-k2.6	Kimi K2.6	ri	262144	256000	0.95 4 0.16 0	off=none minimal low medium high=high xhigh max
@cf/moonshotai/kimi-k2.7-code	Kimi K2.7 Code	ri	262144	262144	0.95 4 0.19 0
@cf/nvidia/nemotron-3-120b-a12b	Nemotron 3 Super 120B	r	256000	256000	0.5 1.5 0 0	off minimal low=low medium high=high xhigh max
@cf/openai/gpt-oss-120b	GPT OSS 120B	r	128000	16384	0.35 0.75 0 0	off minimal low=low medium=medium high=high xhigh max
@cf/openai/gpt-oss-20b	GPT OSS 20B	r	128000	16384	0.2 0.3 0 0	off minimal low=low medium=medium high=high xhigh max
@cf/qwen/qwen3-30b-a3b-fp8	Qwen3 30B A3b fp8	r	32768	32768	0.0509 0.335 0 0
@cf/qwen/qwen3.8-27b	Qwen3.8 27B	ri	262144	262144	0.45 3.2 0.05 0	off minimal low=low medium=medium high xhigh=xhigh max
@cf/zai-org/glm-4.7-flash	GLM-4.7-Flash	r	131072	131072	0.0605 0.4 0 0
@cf/zai-org/glm-5.2	Glm 5.2	r	262144	256000	1.4 4.4 0.26 0	off=none minimal low medium high=high xhigh max=max
@cf/zai-org/glm-5.3	Glm 5.3	r	1048576	1048576	1.4 4.4 0.26 0	off minimal low=low medium high=high xhigh max=max
@cf/zai-org/glm-5.3-flash	Glm 5.3 Flash	ri	1048576	1048576	0.15 0.5 0.03 0	off minimal low=low medium high=high xhigh max=max
# deepseek
@ openai-completions https://api.deepseek.com
deepseek-flash	DeepSeek V4.1 Flash	ri	1000000	384000	0.3 1.2 0.006 0	minimal low=low medium high=high max=max
deepseek-v4-pro	DeepSeek V4 Pro	r	1000000	384000	1.32 3.96 0.044 0	minimal low medium high=high max=max
# fireworks
@ anthropic-messages https://api.fireworks.ai/inference
accounts/fireworks/models/deepseek-v4p1-flash	DeepSeek V4.1 Flash	ri	1000000	384000	0.3 1.2 0.006 0	off=none minimal low=low medium high=high xhigh max=max
accounts/fireworks/models/deepseek-v4p1-flash-1017	DeepSeek V4.1 Flash 1017	ri	1000000	384000	0.3 1.2 0.006 0	off=none minimal low=low medium high=high xhigh max=max
accounts/fireworks/models/ember-1	Ember-1	ri	1048576	131072	3 15 0.3 0	off=none minimal low=low medium=medium high=high xhigh max=max
accounts/fireworks/models/minimax-m3	MiniMax-M3	r	512000	512000	0.3 1.2 0.06 0	off minimal low=low medium=medium high=high xhigh max
accounts/fireworks/models/minimax-m3p1-flash	MiniMax-M3.1-Flash	ri	1000000	512000	0.15 0.6 0.015 0	off minimal low=low medium=medium high=high xhigh=xhigh max=max
accounts/fireworks/models/muse-spark-open	Muse Spark Open	ri	1048576	131072	1.25 4.25 0.15 0	off minimal low=low medium=medium high=high xhigh=xhigh max
accounts/fireworks/models/qwen3p8-2p4t-a95b	Qwen3.8 2.4T A95B	r	262144	131072	2 6 0.25 0	off=none minimal low=low medium=medium high xhigh=xhigh max
accounts/fireworks/models/qwen3p8-max	Qwen3.8 Max	ri	262144	131072	2 6 0.25 0	off=none minimal low=low medium=medium high xhigh=xhigh max
accounts/fireworks/routers/deepseek-flash-latest	DeepSeek Flash Latest	ri	1000000	384000	0.3 1.2 0.006 0	off=none minimal low=low medium high=high xhigh max=max
accounts/fireworks/routers/deepseek-v4p1-flash-1017-spot	DeepSeek V4.1 Flash 1017 Spot	ri	1000000	384000	0.21 0.84 0.0042 0	off=none minimal low=low medium high=high xhigh max=max
accounts/fireworks/routers/deepseek-v4p1-flash-1017-ultrafast	DeepSeek V4.1 Flash 1017 Ultra-fast	ri	1000000	384000	2.4 9.6 0.048 0	off=none minimal low=low medium high=high xhigh max=max
accounts/fireworks/routers/deepseek-v4p1-flash-spot	DeepSeek V4.1 Flash Spot	ri	1000000	384000	0.21 0.84 0.0042 0	off=none minimal low=low medium high=high xhigh max=max
accounts/fireworks/routers/kimi-fast-latest	Kimi Fast Latest	ri	1048576	131072	4.5 22.5 0.45 0	off=none minimal low=low medium=medium high=high xhigh max=max
accounts/fireworks/routers/kimi-latest	Kimi Latest	ri	1048576	131072	3 15 0.3 0	off=none minimal low=low medium=medium high=high xhigh max=max
accounts/fireworks/routers/minimax-latest	MiniMax Latest	r	512000	512000	0.3 1.2 0.06 0	off minimal low=low medium=medium high=high xhigh max
accounts/fireworks/routers/qwen-max-latest	Qwen Max Latest (Qwen3.8 Max)	ri	262144	131072	2 6 0.25 0	off=none minimal low=low medium=medium high xhigh=xhigh max
@ openai-completions https://api.fireworks.ai/inference/v1
accounts/fireworks/models/glm-5p3	GLM 5.3	r	1048573	262144	1.4 4.4 0.26 0	off minimal low=low medium high=high xhigh max=max
accounts/fireworks/models/glm-5p3-flash	GLM 5.3 Flash	ri	1048573	131072	0.15 0.5 0.03 0	off minimal low=low medium high=high xhigh max=max
accounts/fireworks/models/kimi-k3	Kimi K3	ri	1048576	131072	3 15 0.3 0	off minimal low=low medium high=high xhigh max=max
accounts/fireworks/models/kimi-k3p1-pro	Kimi K3.1 Pro	ri	1048576	131072	2 10 0.2 0	off minimal low=low medium high=high xhigh max=max
accounts/fireworks/routers/glm-5p3-fast	GLM 5.3 Fast	r	1048572	262144	2.1 6.6 0.39 0	off minimal low=low medium high=high xhigh max=max
accounts/fireworks/routers/glm-5p3-spot	GLM 5.3 Spot	r	1048573	262144	0.98 3.08 0.182 0	off minimal low=low medium high=high xhigh max=max
accounts/fireworks/routers/glm-fast-latest	GLM 5.3 Fast (Latest)	r	1048572	262144	2.1 6.6 0.39 0	off minimal low=low medium high=high xhigh max=max
accounts/fireworks/routers/glm-flash-latest	GLM Flash Latest (GLM 5.3 Flash)	ri	1048573	131072	0.15 0.5 0.03 0	off minimal low=low medium high=high xhigh max=max
accounts/fireworks/routers/glm-latest	GLM Latest	r	1048573	262144	1.4 4.4 0.26 0	off minimal low=low medium high=high xhigh max=max
accounts/fireworks/routers/kimi-k3-fast	Kimi K3 Fast	ri	1048576	131072	4.5 22.5 0.45 0	off minimal low=low medium high=high xhigh max=max
accounts/fireworks/routers/kimi-k3-spot	Kimi K3 Spot	ri	1048576	131072	2.1 10.5 0.21 0	off minimal low=low medium high=high xhigh max=max
# google
@ google-generative-ai https://generativelanguage.googleapis.com/v1beta
deep-research-max-preview-04-2026	Deep Research Max Preview (Apr-21-2026)	ri	1048576	65536	2 12 0.2 0;200000 4 18 0.4 0
deep-research-preview-04-2026	Deep Research Preview (Apr-21-2026)	ri	1048576	65536	2 12 0.2 0;200000 4 18 0.4 0
gemini-2.5-computer-use-preview-10-2025	Gemini 2.5 Computer Use Preview 10-2025	ri	128000	64000	1.25 10 0 0;200000 2.5 15 0 0
gemini-2.5-flash	Gemini 2.5 Flash	ri	1048576	65536	0.3 2.5 0.03 0
gemini-2.5-flash-lite	Gemini 2.5 Flash-Lite	ri	1048576	65536	0.1 0.4 0.01 0
gemini-2.5-pro	Gemini 2.5 Pro	ri	1048576	65536	1.25 10 0.125 0;200000 2.5 15 0.25 0
gemini-3-flash-preview	Gemini 3 Flash Preview	ri	1048576	65536	0.5 3 0.05 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.1-flash-lite	Gemini 3.1 Flash Lite	ri	1048576	65536	0.25 1.5 0.025 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.1-flash-lite-preview	Gemini 3.1 Flash Lite Preview	ri	1048576	65536	0.25 1.5 0.025 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.1-pro-preview	Gemini 3.1 Pro Preview	ri	1048576	65536	2 12 0.2 0;200000 4 18 0.4 0	off minimal low=low medium=medium high=high xhigh max
gemini-3.1-pro-preview-customtools	Gemini 3.1 Pro Preview Custom Tools	ri	1048576	65536	2 12 0.2 0;200000 4 18 0.4 0	off minimal low=low medium=medium high=high xhigh max
gemini-3.5-flash	Gemini 3.5 Flash	ri	1048576	65536	1.5 9 0.15 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.5-flash-lite	Gemini 3.5 Flash Lite	ri	1048576	65536	0.3 2.5 0.03 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.6-flash	Gemini 3.6 Flash	ri	1048576	65536	0.75 3.75 0.075 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.7-flash	Gemini 3.7 Flash	ri	1048576	65536	0.75 3.75 0.075 0	off minimal low=low medium=medium high=high xhigh max
gemini-3.8-flash	Gemini 3.8 Flash	ri	1048576	65536	0.75 3.75 0.075 0	off minimal low=low medium=medium high=high xhigh max
gemini-4-argon	Gemini 4 Argon	ri	1048576	32768	2 10 0.1 0	off minimal low=low medium=medium high=high xhigh max
gemini-flash-latest	Gemini Flash Latest	ri	1048576	65536	1.5 9 0.15 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-flash-lite-latest	Gemini Flash-Lite Latest	ri	1048576	65536	0.25 1.5 0.025 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-pro-latest	Gemini Pro Latest	ri	1048576	65536	2 12 0.2 0;200000 4 18 0.4 0	off minimal low=low medium=medium high=high xhigh max
gemini-robotics-er-2-preview	Gemini Robotics-ER 2 Preview	ri	131072	65536	1 5 0.1 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemma-4-26b-a4b-it	Gemma 4 26B A4B IT	ri	262144	32768	0 0 0 0	off minimal=MINIMAL low medium high=HIGH
gemma-4-31b-it	Gemma 4 31B IT	ri	262144	32768	0 0 0 0	off minimal=MINIMAL low medium high=HIGH
# google-vertex
@ anthropic-vertex https://aiplatform.googleapis.com/v1/publishers/google
claude-fable-5	Claude Fable 5	ri	1000000	128000	10 50 1 12.5	off xhigh=xhigh max=max
claude-fable-5-1	Claude Fable 5.1	ri	1000000	128000	10 50 0.25 12.5	off xhigh=xhigh max=max
claude-fable-5-2	Claude Fable 5.2	ri	1000000	128000	8 40 0.2 10	off xhigh=xhigh max=max
claude-haiku-4-5@20251001	Claude Haiku 4.5	ri	200000	64000	1 5 0.1 1.25
claude-haiku-5-5	Claude Haiku 5.5	ri	1000000	128000	0.1 0.5 0.01 0.125;100000 0.5 2.5 0.05 0.625	minimal low=low medium=medium high=high xhigh=xhigh max=max
claude-opus-4-5@20251101	Claude Opus 4.5	ri	200000	64000	5 25 0.5 6.25
claude-opus-4-6	Claude Opus 4.6	ri	1000000	128000	5 25 0.5 6.25	max=max
claude-opus-4-7	Claude Opus 4.7	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
claude-opus-4-8	Claude Opus 4.8	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
claude-opus-5	Claude Opus 5	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
claude-opus-5-5	Claude Opus 5.5	ri	1000000	128000	4 20 0.2 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
claude-sonnet-4-5@20250929	Claude Sonnet 4.5	ri	200000	64000	3 15 0.3 3.75
claude-sonnet-4-6	Claude Sonnet 4.6	ri	1000000	128000	3 15 0.3 3.75	max=max
claude-sonnet-5	Claude Sonnet 5	ri	1000000	128000	2 10 0.2 2.5	xhigh=xhigh max=max
claude-sonnet-5-5	Claude Sonnet 5.5	ri	1000000	128000	2 10 0.1 2.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
@ google-generative-ai https://aiplatform.googleapis.com/v1/publishers/google
gemini-2.5-flash	Gemini 2.5 Flash	ri	1048576	65536	0.3 2.5 0.03 0
gemini-2.5-flash-lite	Gemini 2.5 Flash-Lite	ri	1048576	65536	0.1 0.4 0.01 0
gemini-2.5-pro	Gemini 2.5 Pro	ri	1048576	65536	1.25 10 0.125 0;200000 2.5 15 0.25 0
gemini-3-flash-preview	Gemini 3 Flash Preview	ri	1048576	65536	0.5 3 0.05 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.1-flash-lite	Gemini 3.1 Flash Lite	ri	1048576	65536	0.25 1.5 0.025 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.1-pro-preview	Gemini 3.1 Pro Preview	ri	1048576	65536	2 12 0.2 0;200000 4 18 0.4 0	off minimal low=low medium=medium high=high xhigh max
gemini-3.1-pro-preview-customtools	Gemini 3.1 Pro Preview Custom Tools	ri	1048576	65536	2 12 0.2 0;200000 4 18 0.4 0	off minimal low=low medium=medium high=high xhigh max
gemini-3.5-flash	Gemini 3.5 Flash	ri	1048576	65536	1.5 9 0.15 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.5-flash-lite	Gemini 3.5 Flash Lite	ri	1048576	65536	0.3 2.5 0.03 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.6-flash	Gemini 3.6 Flash	ri	1048576	65536	0.75 3.75 0.075 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.7-flash	Gemini 3.7 Flash	ri	1048576	65536	0.75 3.75 0.075 0	off minimal low=low medium=medium high=high xhigh max
gemini-3.8-flash	Gemini 3.8 Flash	ri	1048576	65536	0.75 3.75 0.075 0	off minimal low=low medium=medium high=high xhigh max
gemini-4-argon	Gemini 4 Argon	ri	1048576	65536	2 10 0.1 0	off minimal low=low medium=medium high=high xhigh max
# groq
@ openai-completions https://api.groq.com/openai/v1
llama-3.1-8b-instant	Llama 3.1 8B		131072	131072	0.05 0.08 0 0
llama-3.3-70b-versatile	Llama 3.3 70B		131072	32768	0.59 0.79 0 0
openai/gpt-oss-120b	GPT OSS 120B	r	131072	65536	0.15 0.6 0.075 0	off minimal low=low medium=medium high=high xhigh max
openai/gpt-oss-20b	GPT OSS 20B	r	131072	65536	0.075 0.3 0.0375 0	off minimal low=low medium=medium high=high xhigh max
openai/gpt-oss-safeguard-20b	Safety GPT OSS 20B	r	131072	65536	0.075 0.3 0.0375 0	off minimal low=low medium=medium high=high xhigh max
qwen/qwen3.6-27b	Qwen3.6 27B	ri	131072	16384	0.6 3 0.3 0	off=none minimal low medium high=default xhigh max
qwen/qwen3.8-27b	Qwen3.8 27B	ri	131072	16384	0.8 4 0 0	off=none minimal low=low medium=medium high=high xhigh max
# huggingface
@ openai-completions https://router.huggingface.co/v1
deepseek-ai/DeepSeek-R1	DeepSeek-R1	r	64000	32768	0.7 2.5 0 0
deepseek-ai/DeepSeek-R1-0528	DeepSeek-R1-0528	r	163840	32768	3 5 0 0
deepseek-ai/DeepSeek-V3	DeepSeek-V3		64000	8192	0.4 1.3 0 0
deepseek-ai/DeepSeek-V3-0324	DeepSeek V3 0324		163840	163840	0.27 1.12 0 0
deepseek-ai/DeepSeek-V3.1	DeepSeek-V3.1	r	131072	8192	0.27 1 0 0
deepseek-ai/DeepSeek-V3.2	DeepSeek-V3.2	r	163840	65536	0.28 0.4 0 0
deepseek-ai/DeepSeek-V4-Flash	DeepSeek V4 Flash	r	1048576	384000	0.14 0.28 0 0
deepseek-ai/DeepSeek-V4-Flash-0731	DeepSeek V4 Flash 0731	r	1048576	384000	0.14 0.28 0 0	off minimal low medium high=high xhigh max=max
deepseek-ai/DeepSeek-V4-Flash-Vision-Exp	DeepSeek V4 Flash Vision Exp	ri	1048576	384000	0.44 1.32 0 0	off minimal low=low medium high=high xhigh max=max
deepseek-ai/DeepSeek-V4-Pro	DeepSeek V4 Pro	r	1048576	393216	0.435 0.87 0.003625 0	off minimal low medium high=high xhigh max
deepseek-ai/DeepSeek-V4-Pro-0813	DeepSeek V4 Pro 0813	r	1000000	384000	1.32 3.96 0 0	off minimal low=low medium high=high xhigh max=max
deepseek-ai/DeepSeek-V4.1-Flash	DeepSeek V4.1 Flash	ri	1048576	384000	0.3 1.2 0 0	off=none minimal low=low medium high=high xhigh=xhigh max=max
deepseek-ai/DeepSeek-V4.1-Flash-1017	DeepSeek V4.1 Flash 1017	ri	1048576	384000	0.3 1.2 0 0	off minimal low=low medium high=high xhigh max=max
google/gemma-3-12b-it	Gemma 3 12B IT	i	131072	131072	0.05 0.15 0 0
google/gemma-3-27b-it	Gemma 3 27B IT	i	131072	131072	0.08 0.16 0 0
google/gemma-3-4b-it	Gemma 3 4B IT	i	131072	131072	0.05 0.1 0 0
google/gemma-4-26B-A4B-it	Gemma 4 26B A4B IT	ri	262144	32768	0.13 0.4 0 0
google/gemma-4-31B-it	Gemma 4 31B IT	ri	262144	32768	0.14 0.4 0 0
meta-llama/Llama-3.1-8B-Instruct	Llama-3.1-8B-Instruct		131072	4096	0.06 0.06 0 0
meta-llama/Llama-3.3-70B-Instruct	Llama-3.3-70B-Instruct		131072	4096	0.59 0.79 0 0
MiniMaxAI/MiniMax-M1-80k	MiniMax M1 80K	r	1000000	80000	0.55 2.2 0 0
MiniMaxAI/MiniMax-M2	MiniMax-M2	r	204800	131072	0.3 1.2 0 0
MiniMaxAI/MiniMax-M2.1	MiniMax-M2.1	r	204800	131072	0.3 1.2 0 0
MiniMaxAI/MiniMax-M2.5	MiniMax-M2.5	r	204800	131072	0.3 1.2 0.03 0
MiniMaxAI/MiniMax-M2.7	MiniMax-M2.7	r	204800	131072	0.3 1.2 0.06 0
MiniMaxAI/MiniMax-M3	MiniMax-M3	ri	524288	512000	0.3 1.2 0 0
MiniMaxAI/MiniMax-M3.1-Flash	MiniMax-M3.1-Flash	ri	1000000	512000	0.15 0.6 0 0	off minimal low=low medium=medium high=high xhigh=xhigh max=max
moonshotai/Kimi-K2-Instruct	Kimi-K2-Instruct		131072	16384	1 3 0 0
moonshotai/Kimi-K2-Instruct-0905	Kimi-K2-Instruct-0905		262144	16384	1 3 0 0
moonshotai/Kimi-K2-Thinking	Kimi-K2-Thinking	r	262144	262144	0.6 2.5 0.15 0
moonshotai/Kimi-K2.5	Kimi-K2.5	ri	262144	262144	0.6 3 0.1 0
moonshotai/Kimi-K2.6	Kimi-K2.6	ri	262144	262144	0.95 4 0.16 0
moonshotai/Kimi-K2.7-Code	Kimi K2.7 Code	ri	262144	262144	0.95 4 0 0
moonshotai/Kimi-K3	Kimi K3	ri	1000000	131072	3 15 0 0	off minimal low=low medium high=high xhigh max=max
openai/gpt-oss-120b	GPT OSS 120B	r	131072	32768	0.25 0.69 0 0	off minimal low=low medium=medium high=high xhigh max
openai/gpt-oss-20b	GPT OSS 20B	r	131072	32768	0.1 0.5 0 0	off minimal low=low medium=medium high=high xhigh max
Qwen/Qwen2.5-Coder-32B-Instruct	Qwen2.5-Coder-32B-Instruct		131072	8192	0.06 0.2 0 0
Qwen/Qwen3-235B-A22B	Qwen3 235B-A22B	r	40960	16384	0.2 0.8 0 0
Qwen/Qwen3-235B-A22B-Instruct-2507	Qwen3 235B-A22B Instruct 2507		262144	16384	0.855 2.565 0 0
Qwen/Qwen3-235B-A22B-Thinking-2507	Qwen3-235B-A22B-Thinking-2507	r	262144	81920	0.3 3 0 0
Qwen/Qwen3-30B-A3B	Qwen3 30B A3B	r	40960	16384	0.12 0.5 0 0
Qwen/Qwen3-32B	Qwen3 32B	r	131072	16384	0.29 0.59 0 0
Qwen/Qwen3-8B	Qwen3 8B	r	40960	32768	0.07 0.18 0 0	off=none minimal low=low medium=medium high=high xhigh max
Qwen/Qwen3-Coder-30B-A3B-Instruct	Qwen3-Coder 30B-A3B Instruct		262144	65536	0.07 0.26 0 0
Qwen/Qwen3-Coder-480B-A35B-Instruct	Qwen3-Coder-480B-A35B-Instruct		262144	65536	2 2 0 0
Qwen/Qwen3-Coder-Next	Qwen3-Coder-Next		262144	65536	0.2 1.5 0 0
Qwen/Qwen3-Next-80B-A3B-Instruct	Qwen3-Next-80B-A3B-Instruct		262144	32768	0.25 1 0 0
Qwen/Qwen3-VL-235B-A22B-Instruct	Qwen3 VL 235B A22B Instruct	i	131072	32768	0.3 1.5 0 0
Qwen/Qwen3-VL-235B-A22B-Thinking	Qwen3 VL 235B A22B Thinking	ri	131072	32768	0.98 3.95 0 0	off minimal low=low medium=medium high=high xhigh max
Qwen/Qwen3-VL-30B-A3B-Instruct	Qwen3 VL 30B A3B Instruct	i	131072	32768	0.2 0.7 0 0
Qwen/Qwen3.5-122B-A10B	Qwen3.5 122B-A10B	ri	262144	65536	0.4 3.2 0 0
Qwen/Qwen3.5-27B	Qwen3.5 27B	ri	262144	65536	0.3 2.4 0 0
Qwen/Qwen3.5-35B-A3B	Qwen3.5 35B-A3B	ri	262144	65536	0.25 2 0 0
Qwen/Qwen3.5-397B-A17B	Qwen3.5-397B-A17B	ri	262144	32768	0.6 3.6 0 0	off=none minimal low=low medium=medium high=high xhigh max
Qwen/Qwen3.5-9B	Qwen3.5 9B	ri	262144	65536	0.17 0.25 0 0
Qwen/Qwen3.6-27B	Qwen3.6 27B	ri	262144	65536	0.47 3.19 0 0
Qwen/Qwen3.6-35B-A3B	Qwen3.6 35B-A3B	ri	262144	65536	0.15 0.95 0 0
Qwen/Qwen3.8-2.4T-A95B	Qwen3.8 2.4T A95B	r	262144	131072	2.5 6.25 0 0	off minimal low=low medium=medium high xhigh=xhigh max
Qwen/Qwen3.8-27B	Qwen3.8 27B	ri	262144	32768	0.4 3 0 0	off minimal low=low medium=medium high xhigh=xhigh max
stepfun-ai/Step-3.5-Flash	Step 3.5 Flash	r	262144	256000	0.1 0.3 0 0
stepfun-ai/Step-3.7-Flash	Step 3.7 Flash	ri	262144	256000	0.2 1.15 0 0	off minimal low=low medium=medium high=high xhigh max
tencent/Hy3	Hy3	r	262144	128000	0.14 0.58 0 0	off=none minimal low=low medium high=high xhigh max
tencent/Hy4-preview	Hy4 preview	r	1000000	64000	0.834 2.501 0 0	off=none minimal low medium high=high xhigh max
thinkingmachines/Inkling	Inkling	ri	1048576	1048576	1 4.05 0 0	off minimal low=low medium=medium high=high xhigh max
thinkingmachines/Inkling-Small	Inkling Small	ri	524288	1048576	0.5 1.2 0 0
XiaomiMiMo/MiMo-V2.5	MiMo-V2.5	r	262144	131072	0.4 2 0 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
XiaomiMiMo/MiMo-V2.5-Pro	MiMo-V2.5-Pro	r	1048576	131072	1 3 0 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
zai-org/GLM-4.5-Air	GLM-4.5-Air	r	131072	98304	0.13 0.85 0 0
zai-org/GLM-4.5V	GLM-4.5V	ri	65536	16384	0.6 1.8 0 0
zai-org/GLM-4.6	GLM-4.6	r	204800	131072	0.55 2.2 0 0
zai-org/GLM-4.6V-Flash	GLM-4.6V-Flash	ri	131072	32768	0.3 0.9 0 0
zai-org/GLM-4.7	GLM-4.7	r	204800	131072	0.6 2.2 0.11 0
zai-org/GLM-4.7-Flash	GLM-4.7-Flash	r	200000	128000	0 0 0 0
zai-org/GLM-5	GLM-5	r	202752	131072	1 3.2 0.2 0
zai-org/GLM-5.1	GLM-5.1	r	202752	131072	1 3.2 0.2 0
zai-org/GLM-5.2	GLM-5.2	r	262144	131072	1.4 4.4 0 0
zai-org/GLM-5.3	GLM-5.3	r	1048576	131072	1.4 4.4 0 0	off minimal low=low medium high=high xhigh max=max
zai-org/GLM-5.3-Flash	GLM-5.3-Flash	ri	1048576	131072	0.15 0.5 0 0	off minimal low=low medium high=high xhigh max=max
# kimi-coding
@ openai-completions https://api.kimi.com/coding/v1
k3	Kimi K3	ri	1048576	131072	3 15 0.3 0	off minimal low=low medium high=high xhigh max=max
k3-256k	Kimi K3-256K	ri	262144	131072	3 15 0.3 0	off minimal low=low medium high=high xhigh max=max
k3.1-pro	Kimi K3.1 Pro	ri	1048576	131072	2 10 0.2 0	off minimal low=low medium high=high xhigh max=max
k3.1-pro-highspeed	Kimi K3.1 Pro Highspeed	ri	1048576	131072	4 20 0.2 0	off minimal low=low medium high=high xhigh max=max
kimi-for-coding		ri	1048576	32768	0.95 4 0.19 0	off minimal low=low medium high=high xhigh max=max
kimi-for-coding-highspeed	Kimi For Coding HighSpeed	ri	262144	32768	1.9 8 0.38 0	off
# meta
@ openai-responses https://api.meta.ai/v1
muse-ember-1.0	Muse Ember	ri	1048576	524288	0.1 0.5 0.004 0;200000 0.3 1.5 0.012 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max=max
muse-spark-1.1	Muse Spark 1.1	ri	1048576	131072	1.25 4.25 0.15 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max
muse-spark-1.2	Muse Spark 1.2	ri	1048576	131072	1.25 4.25 0.15 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max
muse-spark-1.2-contributor	Muse Spark 1.2 Contributor	ri	1048576	131072	0.1 0.2 0.002 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max
muse-spark-1.3	Muse Spark 1.3	ri	1048576	131072	1.25 4.25 0.15 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max=max
muse-spark-1.3-contributor	Muse Spark 1.3 Contributor	ri	1048576	131072	0.1 0.2 0.002 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max
muse-wonder-1.0	Muse Wonder	ri	1048576	131072	4 20 0.2 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max=max
# minimax
@ anthropic-messages https://api.minimax.io/anthropic
MiniMax-M2.7		r	204800	131072	0.3 1.2 0.06 0.375
MiniMax-M2.7-highspeed		r	204800	131072	0.6 2.4 0.06 0.375
MiniMax-M3		ri	1000000	524288	0.3 1.2 0.06 0;512000 0.6 2.4 0.12 0
MiniMax-M3.1-Flash		ri	1000000	524288	0.15 0.6 0.015 0	off minimal low=low medium=medium high=high xhigh=xhigh max=max
# minimax-cn
@ anthropic-messages https://api.minimaxi.com/anthropic
MiniMax-M2.7		r	204800	131072	0.3137 1.2549 0.0627 0.3922
MiniMax-M2.7-highspeed		r	204800	131072	0.6275 2.5098 0.0627 0.3922
MiniMax-M3		ri	1000000	524288	0.3137 1.2549 0.0627 0;512000 0.6275 2.5098 0.1255 0
MiniMax-M3.1-Flash		ri	1000000	524288	0.1494 0.5976 0.0149 0	off minimal low=low medium=medium high=high xhigh=xhigh max=max
# mistral
@ openai-completions https://api.mistral.ai/v1
codestral-2508	Codestral 25.08		256000	8192	0.3 0.9 0.03 0
codestral-latest	Codestral (latest)		256000	4096	0.3 0.9 0.03 0
deepseek-v4-1-flash-1017	DeepSeek V4.1 Flash 1017	r	1048576	128000	0.3 1.2 0.007 0	off=none minimal low=low medium high=high xhigh max=max
devstral-2512	Devstral 2		262144	262144	0.4 2 0.04 0
devstral-latest	Devstral 2		262144	262144	0.4 2 0.04 0
devstral-medium-latest	Devstral 2 (latest)		262144	262144	0.4 2 0.04 0
glm-5-2	GLM-5.2	r	1048576	131072	1.4 4.4 0.14 0	off=none minimal low medium high=high xhigh max=max
labs-devstral-small-2512	Devstral Small 2	i	256000	256000	0 0 0 0
labs-leanstral-1-5-1	Leanstral 1.5	ri	262144	128000	0 0 0 0	off=none minimal low medium high=high xhigh max
magistral-medium-latest	Magistral Medium (latest)	ri	262144	16384	2 5 0.2 0	off=none minimal low medium high=high xhigh max
ministral-14b-2512	Ministral 3 14B	i	262144	262144	0.2 0.2 0.02 0
ministral-3b-2512	Ministral 3 3B	i	131072	262144	0.1 0.1 0.01 0
ministral-3b-latest	Ministral 3B (latest)	i	131072	128000	0.1 0.1 0.01 0
ministral-8b-2512	Ministral 3 8B	i	262144	262144	0.15 0.15 0.015 0
ministral-8b-latest	Ministral 8B (latest)	i	262144	128000	0.15 0.15 0.015 0
mistral-large-2512	Mistral Large 3	i	262144	262144	0.5 1.5 0.05 0
mistral-large-4	Mistral Large 4	ri	1048576	262144	0.7 2.1 0.07 0	off minimal low=low medium=medium high=high xhigh max
mistral-large-4-0-8	Mistral Large 4.0.8	ri	1048576	262144	0.7 2.1 0.07 0	off minimal low=low medium=medium high=high xhigh max
mistral-large-latest	Mistral Large (latest)	i	262144	262144	0.5 1.5 0.05 0
mistral-medium-2505	Mistral Medium 3	i	131072	131072	0.4 2 0.04 0
mistral-medium-2508	Mistral Medium 3.1	i	262144	262144	0.4 2 0.04 0
mistral-medium-2604	Mistral Medium 3.5	ri	262144	262144	1.5 7.5 0.15 0	off=none minimal low medium high=high xhigh max
mistral-medium-3.5	Mistral Medium 3.5	ri	262144	262144	1.5 7.5 0 0	off=none minimal low medium high=high xhigh max
mistral-medium-latest	Mistral Medium (latest)	ri	262144	262144	1.5 7.5 0.15 0	off=none minimal low medium high=high xhigh max
mistral-small-2506	Mistral Small 3.2	i	128000	16384	0.1 0.3 0.01 0
mistral-small-2603	Mistral Small 4	ri	262144	256000	0.15 0.6 0.015 0	off=none minimal low medium high=high xhigh max
mistral-small-latest	Mistral Small (latest)	ri	262144	256000	0.15 0.6 0.015 0	off=none minimal low medium high=high xhigh max
open-mistral-nemo	Open Mistral Nemo		128000	128000	0.15 0.15 0.015 0
pixtral-12b	Pixtral 12B	i	128000	128000	0.15 0.15 0.015 0
voxtral-small-2507	Voxtral Small		32768	32000	0.1 0.4 0.01 0
voxtral-small-latest	Voxtral Small (latest)		32768	32000	0.1 0.4 0.01 0
zai-glm-5-2	GLM-5.2	r	1048576	131072	1.4 4.4 0.14 0	off=none minimal low medium high=high xhigh max=max
zai-glm-5-3	GLM-5.3	r	1048576	131072	1.4 4.4 0.14 0	off minimal low=low medium high=high xhigh max=max
zai-glm-5-3-flash	GLM-5.3-Flash	ri	1048576	131072	0.15 0.5 0.03 0	off minimal low=low medium high=high xhigh max=max
# moonshotai
@ openai-completions https://api.moonshot.ai/v1
kimi-k2.6	Kimi K2.6	ri	262144	262144	0.95 4 0.16 0
kimi-k2.7-code	Kimi K2.7 Code	ri	262144	262144	0.95 4 0.19 0	off
kimi-k2.7-code-highspeed	Kimi K2.7 Code HighSpeed	ri	262144	262144	1.9 8 0.38 0	off
kimi-k3	Kimi K3	ri	1048576	1048576	3 15 0.3 0	off minimal low=low medium high=high xhigh max=max
kimi-k3.1-pro	Kimi K3.1 Pro	ri	1048576	1048576	2 10 0.2 0	off minimal low=low medium high=high xhigh max=max
kimi-k3.1-pro-highspeed	Kimi K3.1 Pro Highspeed	ri	1048576	1048576	4 20 0.2 0	off minimal low=low medium high=high xhigh max=max
# moonshotai-cn
@ openai-completions https://api.moonshot.cn/v1
kimi-k2.6	Kimi K2.6	ri	262144	262144	0.9711 4.0337 0.1643 0
kimi-k2.7-code	Kimi K2.7 Code	ri	262144	262144	0.9711 4.0337 0.1942 0	off
kimi-k2.7-code-highspeed	Kimi K2.7 Code HighSpeed	ri	262144	262144	1.9421 8.0673 0.3884 0	off
kimi-k3	Kimi K3	ri	1048576	1048576	3 15 0.3 0	off minimal low=low medium high=high xhigh max=max
kimi-k3.1-pro	Kimi K3.1 Pro	ri	1048576	1048576	1.9437 10.1671 0.1944 0	off minimal low=low medium high=high xhigh max=max
kimi-k3.1-pro-highspeed	Kimi K3.1 Pro Highspeed	ri	1048576	1048576	3.8874 20.3342 0.1944 0	off minimal low=low medium high=high xhigh max=max
# nvidia
@ openai-completions https://integrate.api.nvidia.com/v1
deepseek-ai/deepseek-v4.1-flash	DeepSeek V4.1 Flash	ri	1000000	384000	0 0 0 0	minimal low medium high=high max=max
google/diffusiongemma-26b-a4b-it	DiffusionGemma 26B A4B IT	ri	250000	32768	0 0 0 0
google/gemma-3-12b-it	Gemma 3 12B IT	i	131072	16384	0 0 0 0
google/gemma-3-4b-it	Gemma 3 4B IT	i	131072	16384	0 0 0 0
meta/llama-3.2-90b-vision-instruct	Llama-3.2-90B-Vision-Instruct	i	128000	8192	0 0 0 0
meta/muse-glimmer-30b	Muse Glimmer 30B	ri	131072	131072	0 0 0 0
minimaxai/minimax-m3.1-flash	MiniMax-M3.1-Flash	ri	262144	262144	0 0 0 0
mistralai/mistral-7b-instruct-v0.3	Mistral-7B-Instruct-v0.3		65536	65536	0 0 0 0
moonshotai/kimi-k2.6	Kimi K2.6	ri	262144	262144	0 0 0 0
nvidia/cosmos-reason2-8b	Cosmos Reason2 8B	ri	131072	16384	0 0 0 0
nvidia/llama-3.1-nemotron-70b-instruct	Llama 3.1 Nemotron 70B Instruct		128000	8192	0 0 0 0
nvidia/llama-3.1-nemotron-ultra-253b-v1	Llama 3.1 Nemotron Ultra 253B	r	128000	16384	0 0 0 0
nvidia/nemotron-3-nano-omni-30b-a3b-reasoning	Nemotron 3 Nano Omni	ri	256000	65536	0 0 0 0
nvidia/nemotron-3-ultra-550b-a55b	Nemotron 3 Ultra 550B A55B	r	1000000	65536	0 0 0 0
nvidia/nemotron-3.5-lightning-30b-a3b	Nemotron 3.5 Lightning 30B A3B	r	262144	262144	0 0 0 0
nvidia/nemotron-3.5-super-vl-120b-a12b	Nemotron 3.5 Super VL 120B A12B	ri	1048576	8192	0 0 0 0
openai/gpt-oss-20b	GPT OSS 20B	r	131072	32768	0 0 0 0
poolside/laguna-xs-2.1	Laguna XS 2.1	r	262144	16384	0 0 0 0
stepfun-ai/step-5-preview	Step 5 Preview	ri	1048576	1048576	0 0 0 0
z-ai/glm-5.3-flash	GLM-5.3-Flash	ri	1000000	131072	0 0 0 0
# openai
@ openai-responses https://api.openai.com/v1
chat-latest	Chat Latest	ri	400000	128000	5 30 0.5 0
gpt-4	GPT-4		8192	8192	30 60 0 0
gpt-4-turbo	GPT-4 Turbo	i	128000	4096	10 30 0 0
gpt-4.1	GPT-4.1	i	1047576	32768	2 8 0.5 0
gpt-4.1-mini	GPT-4.1 mini	i	1047576	32768	0.4 1.6 0.1 0
gpt-4.1-nano	GPT-4.1 nano	i	1047576	32768	0.1 0.4 0.025 0
gpt-4o	GPT-4o	i	128000	16384	2.5 10 1.25 0
gpt-4o-2024-05-13	GPT-4o (2024-05-13)	i	128000	4096	5 15 0 0
gpt-4o-2024-08-06	GPT-4o (2024-08-06)	i	128000	16384	2.5 10 1.25 0
gpt-4o-2024-11-20	GPT-4o (2024-11-20)	i	128000	16384	2.5 10 1.25 0
gpt-4o-mini	GPT-4o mini	i	128000	16384	0.15 0.6 0.075 0
gpt-5	GPT-5	ri	400000	128000	1.25 10 0.125 0	off minimal=minimal low=low medium=medium high=high xhigh max
gpt-5-chat-latest	GPT-5 Chat Latest	i	128000	16384	1.25 10 0.125 0	off
gpt-5-mini	GPT-5 Mini	ri	400000	128000	0.25 2 0.025 0	off minimal=minimal low=low medium=medium high=high xhigh max
gpt-5-nano	GPT-5 Nano	ri	400000	128000	0.05 0.4 0.005 0	off minimal=minimal low=low medium=medium high=high xhigh max
gpt-5-pro	GPT-5 Pro	ri	400000	128000	15 120 0 0	off minimal low medium high=high xhigh max
gpt-5.1	GPT-5.1	ri	400000	128000	1.25 10 0.125 0	off=none minimal low=low medium=medium high=high xhigh max
gpt-5.2	GPT-5.2	ri	400000	128000	1.75 14 0.175 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.2-pro	GPT-5.2 Pro	ri	400000	128000	21 168 0 0	off minimal low medium=medium high=high xhigh=xhigh max
gpt-5.3-codex	GPT-5.3 Codex	ri	400000	128000	1.75 14 0.175 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.3-codex-spark	GPT-5.3 Codex Spark	ri	128000	32000	1.75 14 0.175 0	off minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4	GPT-5.4	ri	272000	128000	2.5 15 0.25 0;272000 5 22.5 0.5 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4-mini	GPT-5.4 mini	ri	400000	128000	0.75 4.5 0.075 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4-nano	GPT-5.4 nano	ri	400000	128000	0.2 1.25 0.02 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4-pro	GPT-5.4 Pro	ri	1050000	128000	30 180 0 0;272000 60 270 0 0	off minimal low medium=medium high=high xhigh=xhigh max
gpt-5.5	GPT-5.5	ri	272000	128000	5 30 0.5 0;272000 10 45 1 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.5-pro	GPT-5.5 Pro	ri	1050000	128000	30 180 0 0;272000 60 270 0 0	off minimal low medium=medium high=high xhigh=xhigh max
gpt-5.6-cyber	GPT-5.6 Cyber	ri	400000	128000	12.5 75 1.25 15.625	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-5.6-luna	GPT-5.6 Luna	ri	272000	128000	0.2 1.2 0.02 0.25;272000 0.4 1.8 0.04 0.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-5.6-sol	GPT-5.6 Sol	ri	272000	128000	4 20 0.4 5;272000 8 30 0.8 10	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-5.6-terra	GPT-5.6 Terra	ri	272000	128000	2 12 0.2 2.5;272000 4 18 0.4 5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6-astra	GPT-6 Astra	ri	272000	128000	10 50 1 12.5;272000 20 75 2 25	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6-luna	GPT-6 Luna	ri	272000	128000	0.1 0.5 0.01 0.125;272000 0.2 0.75 0.02 0.25	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6-sol	GPT-6 Sol	ri	272000	128000	2 10 0.2 2.5;272000 4 15 0.4 5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6.1-sol	GPT-6.1 Sol	ri	272000	128000	2 10 0.1 2.5;272000 4 15 0.2 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6.1-terra	GPT-6.1 Terra	ri	272000	128000	1 5 0.05 1.25;272000 2 7.5 0.1 2.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-daybreak-blue-latest	Daybreak Blue	ri	1050000	128000	4 20 0.4 5;272000 8 30 0.8 10	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-daybreak-red-latest	Daybreak Red	ri	400000	128000	12.5 75 1.25 15.625	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
o1		ri	200000	100000	15 60 7.5 0	off minimal low=low medium=medium high=high xhigh max
o1-pro		ri	200000	100000	150 600 0 0	off minimal low=low medium=medium high=high xhigh max
o3		ri	200000	100000	2 8 0.5 0	off minimal low=low medium=medium high=high xhigh max
o3-mini		r	200000	100000	1.1 4.4 0.55 0	off minimal low=low medium=medium high=high xhigh max
o3-pro		ri	200000	100000	20 80 0 0	off minimal low=low medium=medium high=high xhigh max
o4-mini		ri	200000	100000	1.1 4.4 0.275 0	off minimal low=low medium=medium high=high xhigh max
# opencode
@ anthropic-messages https://opencode.ai/inference/anthropic
claude-fable-5	Claude Fable 5	ri	1000000	128000	10 50 1 12.5	off xhigh=xhigh max=max
claude-fable-5-1	Claude Fable 5.1	ri	1000000	128000	10 50 0.25 12.5	off xhigh=xhigh max=max
claude-fable-5-2	Claude Fable 5.2	ri	1000000	128000	8 40 0.2 10	off xhigh=xhigh max=max
claude-haiku-4-5	Claude Haiku 4.5	ri	200000	64000	1 5 0.1 1.25
claude-haiku-5-5	Claude Haiku 5.5	ri	1000000	128000	0.1 0.5 0.01 0.125;100000 0.5 2.5 0.05 0.625	xhigh=xhigh max=max
claude-opus-4-5	Claude Opus 4.5	ri	200000	64000	5 25 0.5 6.25
claude-opus-4-6	Claude Opus 4.6	ri	1000000	128000	5 25 0.5 6.25	max=max
claude-opus-4-7	Claude Opus 4.7	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
claude-opus-4-8	Claude Opus 4.8	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
claude-opus-5	Claude Opus 5	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
claude-opus-5-5	Claude Opus 5.5	ri	1000000	128000	4 20 0.2 5	xhigh=xhigh max=max off
claude-sonnet-4-5	Claude Sonnet 4.5	ri	200000	64000	3 15 0.3 3.75;200000 6 22.5 0.6 7.5
claude-sonnet-4-6	Claude Sonnet 4.6	ri	1000000	64000	3 15 0.3 3.75	max=max
claude-sonnet-5	Claude Sonnet 5	ri	1000000	128000	2 10 0.2 2.5	xhigh=xhigh max=max
claude-sonnet-5-5	Claude Sonnet 5.5	ri	1000000	128000	2 10 0.1 2.5	xhigh=xhigh max=max off
qwen3.5-plus	Qwen3.5 Plus	ri	262144	65536	0.2 1.2 0.02 0.25
qwen3.6-plus	Qwen3.6 Plus	ri	262144	65536	0.5 3 0.05 0.625
qwen3.8-flash	Qwen3.8 Flash	ri	1000000	131072	0.15 0.47 0.016 0.2
@ google-generative-ai https://opencode.ai/inference/google/v1beta
gemini-3-flash	Gemini 3 Flash	ri	1048576	65536	0.5 3 0.05 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.1-pro	Gemini 3.1 Pro Preview	ri	1048576	65536	2 12 0.2 0;200000 4 18 0.4 0	off minimal low=low medium=medium high=high xhigh max
gemini-3.5-flash	Gemini 3.5 Flash	ri	1048576	65536	1.5 9 0.15 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.5-flash-lite	Gemini 3.5 Flash Lite	ri	1048576	65536	0.3 2.5 0.03 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.6-flash	Gemini 3.6 Flash	ri	1048576	65536	0.75 3.75 0.075 0	off minimal=minimal low=low medium=medium high=high xhigh max
gemini-3.7-flash	Gemini 3.7 Flash	ri	1048576	65536	0.75 3.75 0.075 0	off minimal low=low medium=medium high=high xhigh max
gemini-3.8-flash	Gemini 3.8 Flash	ri	1048576	65536	0.75 3.75 0.075 0	off minimal low=low medium=medium high=high xhigh max
gemini-4-argon	Gemini 4 Argon	ri	1048576	65536	2 10 0.1 0	off minimal low=low medium=medium high=high xhigh max
@ openai-completions https://opencode.ai/inference/openai/v1
beam-free	Beam Free	r	1048576	131072	0 0 0 0	off minimal low=low medium=medium high=high xhigh=xhigh max=max
big-pickle	Big Pickle	r	200000	32000	0 0 0 0
deepseek-v4-pro	DeepSeek V4 Pro	r	1000000	384000	1.74 3.48 0.145 0	off minimal low medium high=high xhigh max=max
deepseek-v4.1-flash	DeepSeek V4.1 Flash	ri	1000000	384000	0.3 1.2 0.006 0	off minimal low=low medium high=high xhigh max=max
deepseek-v4.1-flash-free	DeepSeek V4.1 Flash Free	ri	200000	32000	0 0 0 0	off minimal low=low medium high=high xhigh max=max
flint-40b-free	Flint 40B Free	r	262144	65536	0 0 0 0	off minimal low=low medium=medium high=high xhigh=xhigh max=max
glm-5	GLM-5	r	204800	131072	1 3.2 0.2 0
glm-5.1	GLM-5.1	r	204800	131072	1.4 4.4 0.26 0
glm-5.2	GLM-5.2	r	1000000	131072	1.4 4.4 0.26 0	off minimal low medium high=high xhigh max=max
glm-5.3	GLM-5.3	r	1000000	131072	1.4 4.4 0.26 0	off minimal low=low medium high=high xhigh max=max
glm-5.3-flash	GLM-5.3-Flash	ri	1000000	131072	0.15 0.5 0.03 0	off minimal low=low medium high=high xhigh max=max
glm-5.3-flash-free	GLM-5.3-Flash Free	ri	200000	32000	0 0 0 0	off minimal low=low medium high=high xhigh max=max
iceman-free	Iceman Free	r	262144	131072	0 0 0 0
inkling-2-small-free	Inkling 2 Small Free	ri	1048576	131072	0 0 0 0	off=none minimal=minimal low=low medium=medium high=high xhigh max=max
kimi-k2.5	Kimi K2.5	ri	262144	65536	0.6 3 0.1 0
kimi-k2.6	Kimi K2.6	ri	262144	65536	0.95 4 0.16 0
kimi-k2.7-code	Kimi K2.7 Code	ri	262144	262144	0.95 4 0.19 0
kimi-k3	Kimi K3	ri	1048576	131072	3 15 0.3 3	off minimal low=low medium high=high xhigh max=max
longcat-2.5-free	LongCat 2.5 Free	ri	1000000	262144	0 0 0 0
mimo-v2.6-flash-free	MiMo-V2.6-Flash Free	ri	200000	32000	0 0 0 0
minimax-m2.5	MiniMax-M2.5	r	204800	131072	0.3 1.2 0.06 0
minimax-m2.7	MiniMax-M2.7	r	204800	131072	0.3 1.2 0.06 0
minimax-m3	MiniMax-M3	ri	512000	128000	0.3 1.2 0.06 0
minimax-m3.1-flash-free	MiniMax M3.1 Flash Free	ri	1000000	512000	0 0 0 0	off minimal low=low medium=medium high=high xhigh=xhigh max=max
mistral-large-4	Mistral Large 4	ri	524288	262144	0.68 2.09 0.07 0	off=none minimal low medium high=high xhigh max
nemotron-3.5-lightning-free	Nemotron 3.5 Lightning Free	r	262144	262144	0 0 0 0
nemotron-3.5-super-vl-free	Nemotron 3.5 Super VL Free	ri	1048576	131072	0 0 0 0	off=none minimal=minimal low=low medium=medium high=high xhigh=xhigh max
qwen3.8-max	Qwen3.8 Max	ri	262144	131072	2 6 0.25 2.5	off minimal low=low medium=medium high xhigh=xhigh max
@ openai-responses https://opencode.ai/inference/openai/v1
gpt-5	GPT-5	ri	400000	128000	1.07 8.5 0.107 0	off minimal=minimal low=low medium=medium high=high xhigh max
gpt-5-codex	GPT-5 Codex	ri	400000	128000	1.07 8.5 0.107 0	off minimal low=low medium=medium high=high xhigh max
gpt-5-nano	GPT-5 Nano	ri	400000	128000	0.05 0.4 0.005 0	off minimal=minimal low=low medium=medium high=high xhigh max
gpt-5.1	GPT-5.1	ri	400000	128000	1.07 8.5 0.107 0	off minimal low=low medium=medium high=high xhigh max
gpt-5.1-codex	GPT-5.1 Codex	ri	400000	128000	1.07 8.5 0.107 0	off minimal low=low medium=medium high=high xhigh max
gpt-5.1-codex-max	GPT-5.1 Codex Max	ri	400000	128000	1.25 10 0.125 0	off minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.1-codex-mini	GPT-5.1 Codex Mini	ri	400000	128000	0.25 2 0.025 0	off minimal low=low medium=medium high=high xhigh max
gpt-5.2	GPT-5.2	ri	400000	128000	1.75 14 0.175 0	off minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.2-codex	GPT-5.2 Codex	ri	400000	128000	1.75 14 0.175 0	off minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.3-codex	GPT-5.3 Codex	ri	400000	128000	1.75 14 0.175 0	off minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4	GPT-5.4	ri	272000	128000	2.5 15 0.25 0;272000 5 22.5 0.5 0	off minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4-mini	GPT-5.4 Mini	ri	400000	128000	0.75 4.5 0.075 0	off minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4-nano	GPT-5.4 Nano	ri	400000	128000	0.2 1.25 0.02 0	off minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.4-pro	GPT-5.4 Pro	ri	1050000	128000	30 180 30 0	off minimal low medium=medium high=high xhigh=xhigh max
gpt-5.5	GPT-5.5	ri	1050000	128000	5 30 0.5 0;272000 10 45 1 0	off minimal low=low medium=medium high=high xhigh=xhigh max
gpt-5.5-pro	GPT-5.5 Pro	ri	1050000	128000	30 180 30 0	off minimal low medium=medium high=high xhigh=xhigh max
gpt-5.6-luna	GPT-5.6 Luna	ri	1050000	128000	0.2 1.2 0.02 0.25;272000 0.4 1.8 0.04 0.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-5.6-sol	GPT-5.6 Sol	ri	1050000	128000	4 20 0.4 5;272000 8 30 0.8 10	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-5.6-terra	GPT-5.6 Terra	ri	1050000	128000	2 12 0.2 2.5;272000 4 18 0.4 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6-astra	GPT-6 Astra	ri	1050000	128000	10 50 1 12.5;272000 20 75 2 25	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6-luna	GPT-6 Luna	ri	1050000	128000	0.1 0.5 0.01 0.125;272000 0.2 0.75 0.02 0.25	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6-sol	GPT-6 Sol	ri	1050000	128000	2 10 0.2 2.5;272000 4 15 0.4 5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6.1-sol	GPT-6.1 Sol	ri	1050000	128000	2 10 0.1 2.5;272000 4 15 0.2 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
grok-4.5	Grok 4.5	ri	500000	500000	2 6 0.3 0;200000 4 12 0.6 0	off minimal low=low medium=medium high=high xhigh max
grok-4.6	Grok 4.6	ri	500000	500000	2 6 0.5 0;200000 4 12 1 0	off minimal low=low medium=medium high=high xhigh=xhigh max
grok-4.7	Grok 4.7	ri	500000	500000	2 6 0.5 0;200000 4 12 1 0	off minimal low=low medium=medium high=high xhigh=xhigh max
grok-build-0.1	Grok Build 0.1	ri	256000	256000	1 2 0.2 0	off minimal low medium
muse-ember-1.0	Muse Ember 1.0	ri	1048576	270000	0.1 0.5 0.004 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max=max
muse-spark-1.2	Muse Spark 1.2	ri	1048576	131072	1.25 4.25 0.15 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max
muse-spark-1.3	Muse Spark 1.3	ri	1048576	131072	1.25 4.25 0.15 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max
muse-wonder-1.0	Muse Wonder	ri	1048576	131072	4 20 0.2 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max=max
# opencode-go
@ anthropic-messages https://opencode.ai/inference/go/anthropic
claude-haiku-5-5	Claude Haiku 5.5	ri	1000000	128000	0.1 0.5 0.01 0.125;100000 0.5 2.5 0.05 0.625	xhigh=xhigh max=max
minimax-m3	MiniMax-M3	ri	1000000	131072	0.3 1.2 0.06 0;512000 0.6 2.4 0.12 0
qwen3.7-plus	Qwen3.7 Plus	ri	1000000	65536	0.4 1.6 0.04 0.5;256000 1.2 4.8 0.12 1.5
qwen3.8-flash	Qwen3.8 Flash	ri	1000000	131072	0.15 0.47 0.016 0.2
qwen3.8-max	Qwen3.8 Max	ri	1000000	131072	2 6 0.25 2.5
@ google-generative-ai https://opencode.ai/inference/go/google/v1beta
gemini-4-argon	Gemini 4 Argon	ri	1048576	65536	2 10 0.1 0	off minimal low=low medium=medium high=high xhigh max
@ openai-completions https://opencode.ai/inference/go/openai/v1
beam-free	Beam Free	r	1048576	131072	0 0 0 0	off minimal low=low medium=medium high=high xhigh=xhigh max=max
deepseek-v4-pro	DeepSeek V4 Pro	r	1000000	384000	0.66 1.98 0.022 0	minimal low medium high=high max=max
deepseek-v4.1-flash	DeepSeek V4.1 Flash	ri	1000000	384000	0.15 0.6 0.003 0	off minimal low=low medium high=high xhigh max=max
glm-5.2	GLM-5.2	r	1000000	131072	1.4 4.4 0.26 0	off minimal low medium high=high xhigh max=max
glm-5.3	GLM-5.3	r	1000000	131072	1.4 4.4 0.26 0	off minimal low=low medium high=high xhigh max=max
glm-5.3-flash	GLM-5.3-Flash	ri	1000000	131072	0.15 0.5 0.03 0	off minimal low=low medium high=high xhigh max=max
hy3	Hy3	r	256000	128000	0.14 0.58 0.035 0	off=none minimal low=low medium high=high xhigh max
hy4	Hy4	ri	1048576	65536	0.834 2.501 0.042 0	off=none minimal low medium high=high xhigh max
hy4-preview	Hy4 preview	r	1024000	64000	0.834 2.501 0.042 0	off=none minimal low medium high=high xhigh max
iceman-contributor-free	Iceman Contributor Free	r	262144	131072	0 0 0 0
kimi-k2.7-code	Kimi K2.7 Code	ri	262144	262144	0.95 4 0.19 0
kimi-k3	Kimi K3	ri	1048576	131072	3 15 0.3 3	off minimal low medium high xhigh max=max
kimi-k3.1-pro	Kimi K3.1 Pro	ri	1048576	131072	2 10 0.2 2	off minimal low=low medium high=high xhigh max=max
longcat-2.0	LongCat-2.0	r	1000000	131072	0.3 1.2 0.006 0
longcat-2.5-free	LongCat 2.5 Free	ri	1000000	262144	0 0 0 0
mimo-v2.5	MiMo V2.5	ri	1000000	128000	0.14 0.28 0.0028 0
mimo-v2.5-pro	MiMo V2.5 Pro	r	1048576	128000	0.435 0.87 0.003625 0
mimo-v2.6-flash	MiMo-V2.6-Flash	ri	1048576	131072	0.14 0.28 0.0028 0
mimo-v2.6-pro	MiMo-V2.6-Pro	ri	1048576	131072	0.435 0.87 0.003625 0
minimax-m3.1-flash	MiniMax M3.1 Flash	ri	1000000	512000	0.15 0.6 0.015 0	off minimal low=low medium=medium high=high xhigh=xhigh max=max
step-5-preview	Step 5 Preview	ri	1000000	65536	1 2.7 0.1 0	off minimal low=low medium=medium high=high xhigh max
@ openai-responses https://opencode.ai/inference/go/openai/v1
gpt-5.6-luna	GPT-5.6 Luna	ri	1050000	128000	0.2 1.2 0.02 0.25;272000 0.4 1.8 0.04 0.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
gpt-6-luna	GPT-6 Luna	ri	1050000	128000	0.1 0.5 0.01 0.125;272000 0.2 0.75 0.02 0.25	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
grok-4.7	Grok 4.7	ri	500000	500000	2 6 0.5 0;200000 4 12 1 0	off minimal low=low medium=medium high=high xhigh=xhigh max
muse-spark-1.2-contributor	Muse Spark 1.2 Contributor	ri	1048576	131072	0.1 0.2 0.002 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max
muse-spark-1.3-contributor	Muse Spark 1.3 Contributor	ri	1048576	131072	0.1 0.2 0.002 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max
# openrouter
@ anthropic-messages https://openrouter.ai/api
~anthropic/claude-fable-latest	Anthropic: Claude Fable Latest	ri	1000000	128000	8 40 0.2 10	off minimal low=low medium=medium high=high xhigh=xhigh max=max
~anthropic/claude-haiku-latest	Anthropic: Claude Haiku Latest	ri	1000000	128000	0.1 0.5 0.01 0.125;100000 0.5 2.5 0.05 0.625	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
~anthropic/claude-opus-latest	Anthropic: Claude Opus Latest	ri	1000000	128000	4 20 0.2 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
~anthropic/claude-sonnet-latest	Anthropic: Claude Sonnet Latest	ri	1000000	128000	2 10 0.1 2.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-fable-5	Anthropic: Claude Fable 5	ri	1000000	128000	10 50 1 12.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-fable-5.1	Anthropic: Claude Fable 5.1	ri	1000000	128000	10 50 0.25 12.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-fable-5.2	Anthropic: Claude Fable 5.2	ri	1000000	128000	8 40 0.2 10	off minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-haiku-4.5	Anthropic: Claude Haiku 4.5	ri	200000	64000	1 5 0.1 1.25
anthropic/claude-haiku-5.5	Anthropic: Claude Haiku 5.5	ri	1000000	128000	0.1 0.5 0.01 0.125;100000 0.5 2.5 0.05 0.625	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-opus-4.1	Anthropic: Claude Opus 4.1	ri	200000	32000	15 75 1.5 18.75
anthropic/claude-opus-4.5	Anthropic: Claude Opus 4.5	ri	200000	64000	5 25 0.5 6.25
anthropic/claude-opus-4.6	Anthropic: Claude Opus 4.6	ri	1000000	128000	5 25 0.5 6.25	off=none minimal low=low medium=medium high=high xhigh max=max
anthropic/claude-opus-4.7	Anthropic: Claude Opus 4.7	ri	1000000	128000	5 25 0.5 6.25	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-opus-4.8	Anthropic: Claude Opus 4.8	ri	1000000	128000	5 25 0.5 6.25	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-opus-5	Anthropic: Claude Opus 5	ri	1000000	128000	5 25 0.5 6.25	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-opus-5.5	Anthropic: Claude Opus 5.5	ri	1000000	128000	4 20 0.2 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-sonnet-4.5	Anthropic: Claude Sonnet 4.5	ri	1000000	64000	3 15 0.3 3.75;200000 6 22.5 0.6 7.5
anthropic/claude-sonnet-4.6	Anthropic: Claude Sonnet 4.6	ri	1000000	128000	3 15 0.3 3.75	off=none minimal low=low medium=medium high=high xhigh max=max
anthropic/claude-sonnet-5	Anthropic: Claude Sonnet 5	ri	1000000	128000	2 10 0.2 2.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-sonnet-5.5	Anthropic: Claude Sonnet 5.5	ri	1000000	128000	2 10 0.1 2.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
@ openai-completions https://openrouter.ai/api/v1
~deepseek/deepseek-flash-latest	DeepSeek: DeepSeek Flash Latest	ri	1048576	943718	0.006 0.5 0.005 0	off=none minimal low=low medium high=high xhigh max=max
~deepseek/deepseek-pro-latest	DeepSeek: DeepSeek Pro Latest	r	1048576	393216	0.0999 8 0.0999 0	off=none minimal low=low medium high=high xhigh max=max
~deepseek/deepseek-v4-flash-latest	DeepSeek: DeepSeek V4 Flash Latest	r	1048576	943718	0.0434 0.3 0.035 0	off=none minimal low=low medium high=high xhigh max=max
~google/gemini-flash-latest	Google: Gemini Flash Latest	ri	1048576	65536	0.75 3.75 0.075 0.041667	off minimal low=low medium=medium high=high xhigh max
~google/gemini-pro-latest	Google: Gemini Pro Latest	ri	1048576	943718	2 10 0.1 0.1875	off minimal low=low medium=medium high=high xhigh max
~moonshotai/kimi-latest	MoonshotAI: Kimi Latest	ri	1048576	131072	0.1824 9.3388 0.18 0	off=none minimal low=low medium high=high xhigh max=max
~openai/gpt-astra-latest	OpenAI: GPT Astra Latest	ri	1050000	128000	10 50 1 12.5;272000 20 75 2 25	off minimal low=low medium=medium high=high xhigh=xhigh max=max
~openai/gpt-luna-latest	OpenAI: GPT Luna Latest	ri	1050000	128000	0.1 0.5 0.01 0.125;272000 0.2 0.75 0.02 0.25	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
~openai/gpt-mini-latest	OpenAI: GPT Mini Latest	ri	400000	128000	0.75 4.5 0.075 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
~openai/gpt-sol-latest	OpenAI: GPT Sol Latest	ri	1050000	128000	2 10 0.1 2.5;272000 4 15 0.2 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
~openai/gpt-terra-latest	OpenAI: GPT Terra Latest	ri	1050000	128000	1 5 0.05 1.25;272000 2 7.5 0.1 2.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
~unbiased/pareto-latest	Pareto Latest	i	1048576	131072	0.8 3.2 0.03 0
~x-ai/grok-latest	xAI: Grok Latest	ri	500000	450000	2 6 0.5 0;200000 4 12 1 0	off minimal low=low medium=medium high=high xhigh=xhigh max
~z-ai/glm-flash-latest	Z.ai: GLM Flash Latest	ri	1048576	131072	0.0399 0.0784 0.03 0	off minimal low=low medium high=high xhigh max=max
~z-ai/glm-latest	Z.ai: GLM Latest	r	1048576	943718	0.0699 1.4 0.0689 0	off minimal low=low medium high=high xhigh max=max
aion-labs/aion-2.0	AionLabs: Aion-2.0	r	131072	32768	0.8 1.6 0.2 0	off
aion-labs/aion-3.0	AionLabs: Aion-3.0	r	131072	32768	3 6 0.75 0	off
aion-labs/aion-3.0-mini	AionLabs: Aion-3.0-Mini	r	131072	32768	0.7 1.4 0.18 0	off
aion-labs/aion-3.5	AionLabs: Aion 3.5	r	262144	32768	3 6 0.75 0	off minimal low=low medium high=high xhigh max=max
aion-labs/aion-3.5-mini	AionLabs: Aion 3.5 Mini	r	262144	32768	0.7 1.4 0.18 0	off minimal low=low medium high=high xhigh max=max
amazon/nova-2-lite-v1	Amazon: Nova 2 Lite	ri	1000000	65535	0.3 2.5 0 0
amazon/nova-lite-v1	Amazon: Nova Lite 1.0	i	300000	5120	0.06 0.24 0 0
amazon/nova-micro-v1	Amazon: Nova Micro 1.0		128000	5120	0.035 0.14 0 0
amazon/nova-premier-v1	Amazon: Nova Premier 1.0	i	1000000	32000	2.5 12.5 0.625 0
amazon/nova-pro-v1	Amazon: Nova Pro 1.0	i	300000	5120	0.8 3.2 0 0
anthropic/claude-fable-5:batch	Anthropic: Claude Fable 5 (batch)	ri	1000000	128000	5 25 0.5 6.25	off minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-fable-5.1:batch	Anthropic: Claude Fable 5.1 (batch)	ri	1000000	128000	5 25 0.125 6.25	off minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-fable-5.2:batch	Anthropic: Claude Fable 5.2 (batch)	ri	1000000	128000	4 20 0.1 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-haiku-4.5:batch	Anthropic: Claude Haiku 4.5 (batch)	ri	200000	64000	0.5 2.5 0.05 0.625
anthropic/claude-haiku-5.5:batch	Anthropic: Claude Haiku 5.5 (batch)	ri	1000000	128000	0.05 0.25 0.005 0.0625;100000 0.25 1.25 0.025 0.3125	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-opus-4.1:batch	Anthropic: Claude Opus 4.1 (batch)	ri	200000	32000	7.5 37.5 0.75 9.375
anthropic/claude-opus-4.5:batch	Anthropic: Claude Opus 4.5 (batch)	ri	200000	64000	2.5 12.5 0.25 3.125
anthropic/claude-opus-4.6:batch	Anthropic: Claude Opus 4.6 (batch)	ri	1000000	128000	2.5 12.5 0.25 3.125	off=none minimal low=low medium=medium high=high xhigh max=max
anthropic/claude-opus-4.7:batch	Anthropic: Claude Opus 4.7 (batch)	ri	1000000	128000	2.5 12.5 0.25 3.125	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-opus-4.8:batch	Anthropic: Claude Opus 4.8 (batch)	ri	1000000	128000	2.5 12.5 0.25 3.125	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-opus-5:batch	Anthropic: Claude Opus 5 (batch)	ri	1000000	128000	2.5 12.5 0.25 3.125	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-opus-5.5:batch	Anthropic: Claude Opus 5.5 (batch)	ri	1000000	128000	2 10 0.1 2.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-sonnet-4.5:batch	Anthropic: Claude Sonnet 4.5 (batch)	ri	1000000	64000	1.5 7.5 0.15 1.875;200000 3 11.25 0.3 3.75
anthropic/claude-sonnet-4.6:batch	Anthropic: Claude Sonnet 4.6 (batch)	ri	1000000	128000	1.5 7.5 0.15 1.875	off=none minimal low=low medium=medium high=high xhigh max=max
anthropic/claude-sonnet-5:batch	Anthropic: Claude Sonnet 5 (batch)	ri	1000000	128000	1 5 0.1 1.25	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
anthropic/claude-sonnet-5.5:batch	Anthropic: Claude Sonnet 5.5 (batch)	ri	1000000	128000	1 5 0.05 1.25	off minimal low=low medium=medium high=high xhigh=xhigh max=max
auto	Auto	ri	2000000	30000	0 0 0 0
bytedance-seed/seed-1.6	ByteDance Seed: Seed 1.6	ri	262144	32768	0.25 2 0 0;128000 0.5 4 0 0
bytedance-seed/seed-1.6-flash	ByteDance Seed: Seed 1.6 Flash	ri	262144	32768	0.075 0.3 0 0;128000 0.1 0.8 0 0
bytedance-seed/seed-2-1-turbo	ByteDance Seed: Seed 2.1 Turbo	ri	262144	235929	0.5 2.5 0 0
bytedance-seed/seed-2.0-code	ByteDance Seed: Seed-2.0-Code	ri	262144	131072	0.5 3 0 0;128000 1 6 0 0	off=none minimal low=low medium=medium high=high xhigh max
bytedance-seed/seed-2.0-lite	ByteDance Seed: Seed-2.0-Lite	ri	262144	131072	0.25 2 0 0;128000 0.5 4 0 0	off=none minimal=minimal low=low medium=medium high=high xhigh max
bytedance-seed/seed-2.0-mini	ByteDance Seed: Seed-2.0-Mini	ri	262144	131072	0.1 0.4 0 0;128000 0.2 0.8 0 0	off=none minimal=minimal low=low medium=medium high=high xhigh max
cohere/command-a	Cohere: Command A		256000	8192	2.5 10 0 0
cohere/command-a-plus	Cohere: Command A+	ri	192000	64000	0.3 1.5 0.15 0
cohere/command-r-08-2024	Cohere: Command R (08-2024)		128000	4000	0.15 0.6 0 0
cohere/command-r-plus-08-2024	Cohere: Command R+ (08-2024)		128000	4000	2.5 10 0 0
cohere/command-r7b-12-2024	Cohere: Command R7B (12-2024)		128000	4000	0.0375 0.15 0 0
cohere/north-mini-code:free	Cohere: North Mini Code (free)	r	256000	64000	0 0 0 0
deepseek/deepseek-chat	DeepSeek: DeepSeek V3		163840	16384	0.32 0.89 0 0
deepseek/deepseek-chat-v3-0324	DeepSeek: DeepSeek V3 0324		128000	115200	0.29 1.14 0.11 0
deepseek/deepseek-chat-v3.1	DeepSeek: DeepSeek V3.1	r	163840	147456	0.25 0.95 0.13 0
deepseek/deepseek-r1-0528	DeepSeek: R1 0528	r	163840	32768	0.5 2.15 0.35 0	off
deepseek/deepseek-v3.1-terminus	DeepSeek: DeepSeek V3.1 Terminus	r	163840	147456	0.27 1 0 0
deepseek/deepseek-v3.2	DeepSeek: DeepSeek V3.2	r	163840	147456	0.26 0.38 0.13 0
deepseek/deepseek-v3.2-exp	DeepSeek: DeepSeek V3.2 Exp	r	163840	147456	0.27 0.41 0 0
deepseek/deepseek-v4-flash	DeepSeek: DeepSeek V4 Flash 0423	r	1048575	943717	0.091 0.182 0.0182 0	off=none minimal low medium high=high xhigh=xhigh max
deepseek/deepseek-v4-flash-0731	DeepSeek: DeepSeek V4 Flash 0731	r	1048576	943718	0.0434 0.3 0.035 0	off=none minimal low=low medium high=high xhigh max=max
deepseek/deepseek-v4-flash-0731:batch	DeepSeek: DeepSeek V4 Flash 0731 (batch)	r	1048576	384000	0.048 0.144 0.012 0	off=none minimal low=low medium high=high xhigh max=max
deepseek/deepseek-v4-flash-vision-exp	DeepSeek: DeepSeek V4 Flash Vision Exp	ri	1048575	943717	0.44 1.32 0.014 0	off=none minimal low=low medium high=high xhigh max=max
deepseek/deepseek-v4-pro	DeepSeek: DeepSeek V4 Pro 0423	r	1024000	384000	0.95526 1.91052 0.079605 0	off=none minimal low medium high=high xhigh=xhigh max
deepseek/deepseek-v4-pro-0813	DeepSeek: DeepSeek V4 Pro 0813	r	1048576	943718	0.111 4.44 0.097 0	off=none minimal low=low medium high=high xhigh max=max
deepseek/deepseek-v4.1-flash	DeepSeek: DeepSeek V4.1 Flash	ri	1048576	943718	0.006 0.5 0.005 0	off=none minimal low=low medium high=high xhigh max=max
deepseek/deepseek-v4.1-flash-1017	DeepSeek: DeepSeek V4.1 Flash 1017	ri	1048576	943718	0.006 0.5 0.005 0	off=none minimal low=low medium high=high xhigh max=max
deepseek/deepseek-v4.1-flash-1017:batch	DeepSeek: DeepSeek V4.1 Flash 1017 (batch)	ri	1048576	943718	0.011 0.2 0.002 0	off=none minimal low=low medium high=high xhigh max=max
deepseek/deepseek-v4.1-flash:batch	DeepSeek: DeepSeek V4.1 Flash (batch)	ri	1048576	131072	0.112 0.336 0.00336 0	off=none minimal low=low medium high=high xhigh max=max
dots-studio/dots-3-note-preview:free	Dots Studio: Dots3-Note Preview (free)	ri	512000	460800	0 0 0 0
elorian/glimpse	Elorian: Glimpse	ri	262144	256000	0.6 3 0.06 0
fireworks/ember-1	Fireworks: Ember-1	ri	1048576	943718	3 15 0.3 0	off=none minimal low=low medium high=high xhigh max=max
google/gemini-2.5-flash	Google: Gemini 2.5 Flash	ri	1048576	65535	0.3 2.5 0.03 0.083333
google/gemini-2.5-flash-lite	Google: Gemini 2.5 Flash Lite	ri	1048576	65535	0.1 0.4 0.01 0.083333
google/gemini-2.5-pro	Google: Gemini 2.5 Pro	ri	1048576	65536	1.25 10 0.125 0.375;200000 2.5 15 0.25 0.375	off
google/gemini-2.5-pro-preview	Google: Gemini 2.5 Pro Preview 06-05	ri	1048576	65536	1.25 10 0.125 0.375;200000 2.5 15 0.25 0.375	off
google/gemini-3-flash-preview	Google: Gemini 3 Flash Preview	ri	1048576	65536	0.5 3 0.05 0.083333	off=none minimal=minimal low=low medium=medium high=high xhigh max
google/gemini-3-flash-preview:batch	Google: Gemini 3 Flash Preview (batch)	ri	1048576	65536	0.25 1.5 0 0	off=none minimal=minimal low=low medium=medium high=high xhigh max
google/gemini-3-pro-image	Google: Nano Banana Pro (Gemini 3 Pro Image)	ri	65536	32768	2 12 0.2 0.375	off
google/gemini-3.1-flash-lite	Google: Gemini 3.1 Flash Lite	ri	1048576	65536	0.25 1.5 0.025 0.083333	off=none minimal=minimal low=low medium=medium high=high xhigh max
google/gemini-3.1-flash-lite-preview	Google: Gemini 3.1 Flash Lite Preview	ri	1048576	65536	0.25 1.5 0.025 0.083333	off=none minimal=minimal low=low medium=medium high=high xhigh max
google/gemini-3.1-flash-lite:batch	Google: Gemini 3.1 Flash Lite (batch)	ri	1048576	65536	0.125 0.75 0.0125 0	off=none minimal=minimal low=low medium=medium high=high xhigh max
google/gemini-3.1-pro-preview	Google: Gemini 3.1 Pro Preview	ri	1048576	65536	2 12 0.2 0.375;200000 4 18 0.4 0.375	off minimal low=low medium=medium high=high xhigh max
google/gemini-3.1-pro-preview-customtools	Google: Gemini 3.1 Pro Preview Custom Tools	ri	1048576	65536	2 12 0.2 0.375;200000 4 18 0.4 0.375	off minimal low=low medium=medium high=high xhigh max
google/gemini-3.1-pro-preview:batch	Google: Gemini 3.1 Pro Preview (batch)	ri	1048576	65536	1 6 0 0;200000 2 9 0 0	off minimal low=low medium=medium high=high xhigh max
google/gemini-3.5-flash	Google: Gemini 3.5 Flash	ri	1048576	65536	1.5 9 0.15 0.083333	off minimal=minimal low=low medium=medium high=high xhigh max
google/gemini-3.5-flash-lite	Google: Gemini 3.5 Flash Lite	ri	1048576	65536	0.3 2.5 0.03 0.083333	off minimal=minimal low=low medium=medium high=high xhigh max
google/gemini-3.5-flash-lite:batch	Google: Gemini 3.5 Flash Lite (batch)	ri	1048576	65536	0.15 1.25 0.015 0	off minimal=minimal low=low medium=medium high=high xhigh max
google/gemini-3.5-flash:batch	Google: Gemini 3.5 Flash (batch)	ri	1048576	65536	0.75 4.5 0.075 0	off minimal=minimal low=low medium=medium high=high xhigh max
google/gemini-3.6-flash	Google: Gemini 3.6 Flash	ri	1048576	65536	0.75 3.75 0.075 0.041667	off minimal=minimal low=low medium=medium high=high xhigh max
google/gemini-3.6-flash:batch	Google: Gemini 3.6 Flash (batch)	ri	1048576	65536	0.375 1.875 0.0375 0.041667	off minimal=minimal low=low medium=medium high=high xhigh max
google/gemini-3.7-flash	Google: Gemini 3.7 Flash	ri	1048576	65536	0.75 3.75 0.075 0.041667	off minimal low=low medium=medium high=high xhigh max
google/gemini-3.7-flash:batch	Google: Gemini 3.7 Flash (batch)	ri	1048576	65536	0.375 1.875 0.0375 0.041667	off minimal low=low medium=medium high=high xhigh max
google/gemini-3.8-flash	Google: Gemini 3.8 Flash	ri	1048576	65536	0.825 4.125 0.0825 0.041667	off minimal low=low medium=medium high=high xhigh max
google/gemini-3.8-flash:batch	Google: Gemini 3.8 Flash (batch)	ri	1048576	65536	0.375 1.875 0.0375 0.041667	off minimal low=low medium=medium high=high xhigh max
google/gemini-4-argon	Google: Gemini 4 Argon	ri	1048576	943718	2 10 0.1 0.1875	off minimal low=low medium=medium high=high xhigh max
google/gemini-4-argon:batch	Google: Gemini 4 Argon (batch)	ri	1048576	943718	1 5 0.05 0.1875	off minimal low=low medium=medium high=high xhigh max
google/gemini-nano-banana-2.1	Google: Nano Banana 2.1	ri	65536	58982	1.5 7.5 0 0	off=none minimal=minimal low medium high=high xhigh max
google/gemma-3-12b-it	Google: Gemma 3 12B	i	131072	16384	0.05 0.15 0 0
google/gemma-3-27b-it	Google: Gemma 3 27B	i	131072	117964	0.08 0.45 0.04 0
google/gemma-4-26b-a4b-it	Google: Gemma 4 26B A4B 	ri	256000	128000	0.08 0.1 0.046 0
google/gemma-4-26b-a4b-it:free	Google: Gemma 4 26B A4B  (free)	ri	262144	32768	0 0 0 0
google/gemma-4-31b-it	Google: Gemma 4 31B	ri	262144	16384	0.2 0.4 0 0
google/gemma-4-31b-it:free	Google: Gemma 4 31B (free)	ri	262144	32768	0 0 0 0
ibm-granite/granite-4.2-8b	IBM: Granite 4.2 8B	r	131072	117964	0.06 0.25 0.015 0	off=none minimal low=low medium high=high xhigh max
inclusionai/ling-3.0-flash	inclusionAI: Ling 3.0 Flash	r	262144	32768	0.021 0.063 0.0042 0
inclusionai/ling-3.0-flash-vl	inclusionAI: Ling 3.0 Flash VL	ri	131072	32768	0.06 0.18 0.012 0
inclusionai/ling-3.0-tiny	inclusionAI: Ling 3.0 Tiny	r	262144	250000	0.015 0.045 0.003 0
inclusionai/ling-3.1-flash	inclusionAI: Ling 3.1 Flash	r	1000000	262144	0.045 0.135 0.009 0
liquid/lfm-2.5-2.6b	LiquidAI: LFM2.5-2.6B	r	128000	8192	0.35 0.5 0.04 0	off
liquid/lfm-2.5-2.6b:free	LiquidAI: LFM2.5-2.6B (free)	r	65536	8192	0 0 0 0	off
liquid/lfm-2.5-24b-a2b	LiquidAI: LFM2.5-24B-A2B	r	128000	8192	0.05 0.7 0.025 0	off
liquid/lfm-3-1.7b	LiquidAI: LFM3-1.7B	r	262144	8192	0.08 0.2 0.02 0	off
liquid/lfm-3-1.7b:free	LiquidAI: LFM3-1.7B (free)	r	262144	8192	0 0 0 0	off
meituan/longcat-2.0	Meituan: LongCat 2.0	r	1048756	262144	0.3 1.2 0.006 0
meta-llama/llama-3.1-8b-instruct	Meta: Llama 3.1 8B Instruct		131072	16384	0.02 0.04 0 0
meta-llama/llama-3.3-70b-instruct	Meta: Llama 3.3 70B Instruct		128000	115200	0.71 0.71 0.71 0
meta-llama/llama-4-maverick	Meta: Llama 4 Maverick	i	524288	32768	0.35 1 0.17 0
meta-llama/llama-4-scout	Meta: Llama 4 Scout	i	327680	16384	0.1 0.3 0 0
meta/muse-ember	Meta: Muse Ember	ri	1048576	943718	0.1 0.5 0.004 0.125	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max=max
meta/muse-glimmer-30b	Meta: Muse Glimmer 30B	ri	131072	16384	0.3 1.2 0.04 0	off minimal low=low medium=medium high=high xhigh=xhigh max
meta/muse-glimmer-30b:batch	Meta: Muse Glimmer 30B (batch)	ri	131072	16384	0.24 0.96 0.032 0	off minimal low=low medium=medium high=high xhigh=xhigh max
meta/muse-spark-1.1	Meta: Muse Spark 1.1	ri	1048576	943718	1.25 4.25 0.15 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max
meta/muse-spark-1.2	Meta: Muse Spark 1.2	ri	1048576	943718	1.25 4.25 0.15 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max
meta/muse-spark-1.2-contributor	Meta: Muse Spark 1.2 Contributor	ri	1048576	943718	0.1 0.2 0.002 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max
meta/muse-spark-1.3	Meta: Muse Spark 1.3	ri	1048576	943718	1.25 4.25 0.15 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max=max
meta/muse-spark-1.3-contributor	Meta: Muse Spark 1.3 Contributor	ri	1048576	943718	0.1 0.2 0.002 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max=max
meta/muse-spark-open	Meta: Muse Spark Open	ri	1048576	131072	1.25 4.25 0.15 0	off minimal low=low medium=medium high=high xhigh=xhigh max
meta/muse-wonder	Meta: Muse Wonder	ri	1048576	943718	4 20 0.2 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max=max
minimax/minimax-m2.5	MiniMax: MiniMax M2.5	r	65536	58982	0.3 1.2 0.06 0	off
minimax/minimax-m2.7	MiniMax: MiniMax M2.7	r	196608	176947	0.21 0.84 0.042 0	off
minimax/minimax-m3	MiniMax: MiniMax M3	ri	524288	512000	0.3 1.2 0.06 0
minimax/minimax-m3:batch	MiniMax: MiniMax M3 (batch)	ri	524288	512000	0.224 0.88 0.0448 0
minimax/minimax-m3.1-flash	MiniMax: MiniMax M3.1 Flash	ri	1048576	524288	0.15 0.6 0.015 0	off minimal low=low medium=medium high=high xhigh=xhigh max=max
mistralai/codestral-2508	Mistral: Codestral 2508		256000	204800	0.3 0.9 0.03 0
mistralai/devstral-2512	Mistral: Devstral 2 2512		262144	209715	0.4 2 0.04 0
mistralai/ministral-14b-2512	Mistral: Ministral 3 14B 2512	i	262144	209715	0.2 0.2 0.02 0
mistralai/ministral-3b-2512	Mistral: Ministral 3 3B 2512	i	131072	104857	0.1 0.1 0.01 0
mistralai/ministral-8b-2512	Mistral: Ministral 3 8B 2512	i	262144	209715	0.15 0.15 0.015 0
mistralai/mistral-large	Mistral Large		128000	102400	2 6 0.2 0
mistralai/mistral-large-2407	Mistral Large 2407		131072	104857	2 6 0.2 0
mistralai/mistral-large-2512	Mistral: Mistral Large 3 2512	i	262144	209715	0.5 1.5 0.05 0
mistralai/mistral-large-4-0	Mistral: Mistral Large 4	ri	1048576	262144	0.7 2.1 0.07 0	off=none minimal low medium high=high xhigh max
mistralai/mistral-medium-3	Mistral: Mistral Medium 3	i	131072	104857	0.4 2 0.04 0
mistralai/mistral-medium-3-5	Mistral: Mistral Medium 3.5	ri	262144	209715	1.5 7.5 0 0	off=none minimal low medium high=high xhigh max
mistralai/mistral-medium-3-5:batch	Mistral: Mistral Medium 3.5 (batch)	ri	262144	209715	0.75 3.75 0 0	off=none minimal low medium high=high xhigh max
mistralai/mistral-medium-3.1	Mistral: Mistral Medium 3.1	i	131072	104857	0.4 2 0.04 0
mistralai/mistral-nemo	Mistral: Mistral Nemo		131072	16384	0.029 0.03 0 0
mistralai/mistral-saba	Mistral: Saba		32768	26214	0.2 0.6 0.02 0
mistralai/mistral-small-2603	Mistral: Mistral Small 4	ri	262144	209715	0.15 0.6 0.015 0	off=none minimal low medium high=high xhigh max
mistralai/mistral-small-3.1-24b-instruct	Mistral: Mistral Small 3.1 24B	i	128000	102400	0.351 0.555 0 0
mistralai/mistral-small-3.2-24b-instruct	Mistral: Mistral Small 3.2 24B	i	32768	26214	0.1 0.3 0.01 0
mistralai/mixtral-8x22b-instruct	Mistral: Mixtral 8x22B Instruct		65536	52428	2 6 0.2 0
mistralai/voxtral-small-24b-2507	Mistral: Voxtral Small 24B 2507		32768	26214	0.1 0.3 0.01 0
moonshotai/kimi-k2	MoonshotAI: Kimi K2 0711		131072	98304	0.57 2.3 0 0
moonshotai/kimi-k2-0905	MoonshotAI: Kimi K2 0905		262144	98304	0.6 2.5 0 0
moonshotai/kimi-k2-thinking	MoonshotAI: Kimi K2 Thinking	r	262144	98304	0.6 2.5 0.15 0	off
moonshotai/kimi-k2.5	MoonshotAI: Kimi K2.5	ri	256000	4096	0.41 2.06 0.07 0
moonshotai/kimi-k2.6	MoonshotAI: Kimi K2.6	ri	262144	235929	0.65 3.41 0.15 0
moonshotai/kimi-k2.7-code	MoonshotAI: Kimi K2.7 Code	ri	262144	235929	0.6 3.5 0.16 0	off
moonshotai/kimi-k3	MoonshotAI: Kimi K3	ri	1048576	131072	0.192 16 0.182 0	off=none minimal low=low medium high=high xhigh max=max
moonshotai/kimi-k3:batch	MoonshotAI: Kimi K3 (batch)	ri	1048576	16384	2.28 11.4 0.228 0	off=none minimal low=low medium high=high xhigh max=max
moonshotai/kimi-k3.1-pro	MoonshotAI: Kimi K3.1 Pro	ri	1048576	131072	2 10 0.2 0	off=none minimal low=low medium high=high xhigh max=max
nex-agi/nex-n2.5-pro	Nex AGI: Nex-N2.5-Pro	ri	262144	235929	0.075 0.25 0.015 0	off=none minimal low medium=medium high=high xhigh max
nex-agi/nex-n2.6	Nex AGI: Nex-N2.6	ri	262144	235929	0.12 0.4 0.024 0	off minimal low medium=medium high=high xhigh max
nvidia/nemotron-3-nano-30b-a3b	NVIDIA: Nemotron 3 Nano 30B A3B	r	262144	235929	0.06 0.24 0.012 0
nvidia/nemotron-3-nano-omni-30b-a3b-reasoning:free	NVIDIA: Nemotron 3 Nano Omni (free)	ri	256000	65536	0 0 0 0
nvidia/nemotron-3-super-120b-a12b	NVIDIA: Nemotron 3 Super	r	262144	16384	0.075 0.4 0 0	off=none minimal low=low medium=medium high xhigh max
nvidia/nemotron-3-ultra-550b-a55b	NVIDIA: Nemotron 3 Ultra	r	202800	182520	0.6 2.4 0.12 0	off=none minimal low medium=medium high=high xhigh max
nvidia/nemotron-3-ultra-550b-a55b:free	NVIDIA: Nemotron 3 Ultra (free)	r	1000000	65536	0 0 0 0	off=none minimal low medium=medium high=high xhigh max
nvidia/nemotron-3.5-lightning	NVIDIA: Nemotron 3.5 Lightning	r	262144	235929	0.07 0.2 0.04 0
nvidia/nemotron-3.5-lightning:free	NVIDIA: Nemotron 3.5 Lightning (free)	r	1000000	65536	0 0 0 0
nvidia/nemotron-3.5-super-vl	NVIDIA: Nemotron 3.5 Super VL	ri	1048576	943718	0.15 0.47 0.02 0
nvidia/nemotron-3.5-super-vl:free	NVIDIA: Nemotron 3.5 Super VL (free)	ri	1000000	131072	0 0 0 0
openai/gpt-3.5-turbo-0613	OpenAI: GPT-3.5 Turbo (older v0613)		4095	3685	1 2 0 0
openai/gpt-3.5-turbo-16k	OpenAI: GPT-3.5 Turbo 16k		16385	4096	3 4 0 0
openai/gpt-4	OpenAI: GPT-4		8191	4096	30 60 0 0
openai/gpt-4-turbo:batch	OpenAI: GPT-4 Turbo (batch)	i	128000	4096	5 15 0 0
openai/gpt-4.1	OpenAI: GPT-4.1	i	1047576	32768	2 8 0.5 0
openai/gpt-4.1-mini	OpenAI: GPT-4.1 Mini	i	1047576	32768	0.4 1.6 0.1 0
openai/gpt-4.1-mini:batch	OpenAI: GPT-4.1 Mini (batch)	i	1047576	32768	0.2 0.8 0.05 0
openai/gpt-4.1-nano	OpenAI: GPT-4.1 Nano	i	1047576	942818	0.1 0.4 0.03 0
openai/gpt-4.1-nano:batch	OpenAI: GPT-4.1 Nano (batch)	i	1047576	32768	0.05 0.2 0.0125 0
openai/gpt-4.1:batch	OpenAI: GPT-4.1 (batch)	i	1047576	32768	1 4 0.25 0
openai/gpt-4o	OpenAI: GPT-4o	i	128000	16384	2.5 10 1.25 0
openai/gpt-4o-2024-05-13	OpenAI: GPT-4o (2024-05-13)	i	128000	4096	5 15 0 0
openai/gpt-4o-2024-08-06	OpenAI: GPT-4o (2024-08-06)	i	128000	16384	2.5 10 1.25 0
openai/gpt-4o-2024-11-20	OpenAI: GPT-4o (2024-11-20)	i	128000	16384	2.5 10 1.25 0
openai/gpt-4o-mini	OpenAI: GPT-4o-mini	i	128000	16384	0.15 0.6 0.075 0
openai/gpt-4o-mini-2024-07-18	OpenAI: GPT-4o-mini (2024-07-18)	i	128000	16384	0.15 0.6 0.075 0
openai/gpt-4o-mini:batch	OpenAI: GPT-4o-mini (batch)	i	128000	16384	0.075 0.3 0.0375 0
openai/gpt-4o:batch	OpenAI: GPT-4o (batch)	i	128000	16384	1.25 5 0.625 0
openai/gpt-5	OpenAI: GPT-5	ri	400000	128000	1.25 10 0.125 0	off minimal=minimal low=low medium=medium high=high xhigh max
openai/gpt-5-mini	OpenAI: GPT-5 Mini	ri	400000	128000	0.25 2 0.025 0	off minimal=minimal low=low medium=medium high=high xhigh max
openai/gpt-5-mini:batch	OpenAI: GPT-5 Mini (batch)	ri	400000	128000	0.125 1 0.0125 0	off minimal=minimal low=low medium=medium high=high xhigh max
openai/gpt-5-nano	OpenAI: GPT-5 Nano	ri	400000	128000	0.05 0.4 0.005 0	off minimal=minimal low=low medium=medium high=high xhigh max
openai/gpt-5-nano:batch	OpenAI: GPT-5 Nano (batch)	ri	400000	128000	0.025 0.2 0.0025 0	off minimal=minimal low=low medium=medium high=high xhigh max
openai/gpt-5-pro	OpenAI: GPT-5 Pro	ri	400000	128000	15 120 0 0	off minimal low medium high=high xhigh max
openai/gpt-5-pro:batch	OpenAI: GPT-5 Pro (batch)	ri	400000	128000	7.5 60 0 0	off minimal low medium high=high xhigh max
openai/gpt-5:batch	OpenAI: GPT-5 (batch)	ri	400000	128000	0.625 5 0.0625 0	off minimal=minimal low=low medium=medium high=high xhigh max
openai/gpt-5.1	OpenAI: GPT-5.1	ri	400000	128000	1.25 10 0.125 0	off=none minimal low=low medium=medium high=high xhigh max
openai/gpt-5.1-codex	OpenAI: GPT-5.1-Codex	ri	400000	128000	1.25 10 0.13 0	off minimal low=low medium=medium high=high xhigh max
openai/gpt-5.1-codex-max	OpenAI: GPT-5.1-Codex-Max	ri	400000	128000	1.25 10 0.125 0	off minimal low=low medium=medium high=high xhigh=xhigh max
openai/gpt-5.1-codex-mini	OpenAI: GPT-5.1-Codex-Mini	ri	400000	128000	0.25 2 0.03 0	off minimal low=low medium=medium high=high xhigh max
openai/gpt-5.1:batch	OpenAI: GPT-5.1 (batch)	ri	400000	128000	0.625 5 0.0625 0	off=none minimal low=low medium=medium high=high xhigh max
openai/gpt-5.2	OpenAI: GPT-5.2	ri	400000	128000	1.75 14 0.175 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
openai/gpt-5.2-chat	OpenAI: GPT-5.2 Chat	i	128000	32000	1.75 14 0.175 0	xhigh=xhigh
openai/gpt-5.2-codex	OpenAI: GPT-5.2-Codex	ri	400000	128000	1.75 14 0.175 0	off minimal low=low medium=medium high=high xhigh=xhigh max
openai/gpt-5.2-pro	OpenAI: GPT-5.2 Pro	ri	400000	128000	21 168 0 0	off minimal low medium=medium high=high xhigh=xhigh max
openai/gpt-5.2-pro:batch	OpenAI: GPT-5.2 Pro (batch)	ri	400000	128000	10.5 84 0 0	off minimal low medium=medium high=high xhigh=xhigh max
openai/gpt-5.2:batch	OpenAI: GPT-5.2 (batch)	ri	400000	128000	0.875 7 0.0875 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
openai/gpt-5.3-codex	OpenAI: GPT-5.3-Codex	ri	400000	128000	1.75 14 0.175 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
openai/gpt-5.4	OpenAI: GPT-5.4	ri	1050000	128000	2.5 15 0.25 0;272000 5 22.5 0.5 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
openai/gpt-5.4-mini	OpenAI: GPT-5.4 Mini	ri	400000	128000	0.75 4.5 0.075 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
openai/gpt-5.4-mini:batch	OpenAI: GPT-5.4 Mini (batch)	ri	400000	128000	0.375 2.25 0.0375 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
openai/gpt-5.4-nano	OpenAI: GPT-5.4 Nano	ri	400000	128000	0.2 1.25 0.02 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
openai/gpt-5.4-nano:batch	OpenAI: GPT-5.4 Nano (batch)	ri	400000	128000	0.1 0.625 0.01 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
openai/gpt-5.4-pro	OpenAI: GPT-5.4 Pro	ri	1050000	128000	30 180 0 0;272000 60 270 0 0	off minimal low medium=medium high=high xhigh=xhigh max
openai/gpt-5.4-pro:batch	OpenAI: GPT-5.4 Pro (batch)	ri	1050000	128000	15 90 0 0;272000 30 135 0 0	off minimal low medium=medium high=high xhigh=xhigh max
openai/gpt-5.4:batch	OpenAI: GPT-5.4 (batch)	ri	1050000	128000	1.25 7.5 0.125 0;272000 2.5 11.25 0.25 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
openai/gpt-5.5	OpenAI: GPT-5.5	ri	1050000	128000	5 30 0.5 0;272000 10 45 1 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
openai/gpt-5.5-pro	OpenAI: GPT-5.5 Pro	ri	1050000	128000	30 180 0 0;272000 60 270 0 0	off minimal low medium=medium high=high xhigh=xhigh max
openai/gpt-5.5-pro:batch	OpenAI: GPT-5.5 Pro (batch)	ri	1050000	128000	15 90 0 0;272000 30 135 0 0	off minimal low medium=medium high=high xhigh=xhigh max
openai/gpt-5.5:batch	OpenAI: GPT-5.5 (batch)	ri	1050000	128000	2.5 15 0.25 0;272000 5 22.5 0.5 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
openai/gpt-5.6-luna	OpenAI: GPT-5.6 Luna	ri	1050000	128000	0.2 1.2 0.02 0.25;272000 0.4 1.8 0.04 0.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-5.6-luna-pro	OpenAI: GPT-5.6 Luna Pro	ri	1050000	128000	0.2 1.2 0.02 0.25;272000 0.4 1.8 0.04 0.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-5.6-luna-pro:batch	OpenAI: GPT-5.6 Luna Pro (batch)	ri	1050000	128000	0.1 0.6 0.01 0;272000 0.2 0.9 0.02 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-5.6-luna:batch	OpenAI: GPT-5.6 Luna (batch)	ri	1050000	128000	0.1 0.6 0.01 0;272000 0.2 0.9 0.02 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-5.6-sol	OpenAI: GPT-5.6 Sol	ri	1050000	128000	4 20 0.4 5;272000 8 30 0.8 10	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-5.6-sol-pro	OpenAI: GPT-5.6 Sol Pro	ri	1050000	128000	4 20 0.4 5;272000 8 30 0.8 10	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-5.6-sol-pro:batch	OpenAI: GPT-5.6 Sol Pro (batch)	ri	1050000	128000	2 10 0.2 2.5;272000 4 15 0.4 5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-5.6-sol:batch	OpenAI: GPT-5.6 Sol (batch)	ri	1050000	128000	2 10 0.2 2.5;272000 4 15 0.4 5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-5.6-terra	OpenAI: GPT-5.6 Terra	ri	1050000	128000	2 12 0.2 2.5;272000 4 18 0.4 5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-5.6-terra-pro	OpenAI: GPT-5.6 Terra Pro	ri	1050000	128000	2 12 0.2 2.5;272000 4 18 0.4 5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-5.6-terra-pro:batch	OpenAI: GPT-5.6 Terra Pro (batch)	ri	1050000	128000	1 6 0.1 0;272000 2 9 0.2 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-5.6-terra:batch	OpenAI: GPT-5.6 Terra (batch)	ri	1050000	128000	1 6 0.1 0;272000 2 9 0.2 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6-astra	OpenAI: GPT-6 Astra	ri	1050000	128000	10 50 1 12.5;272000 20 75 2 25	off minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6-astra-pro	OpenAI: GPT-6 Astra Pro	ri	1050000	128000	10 50 1 12.5;272000 20 75 2 25	off minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6-astra-pro:batch	OpenAI: GPT-6 Astra Pro (batch)	ri	1050000	128000	5 25 0.5 6.25;272000 10 37.5 1 12.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6-astra:batch	OpenAI: GPT-6 Astra (batch)	ri	1050000	128000	5 25 0.5 6.25;272000 10 37.5 1 12.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6-luna	OpenAI: GPT-6 Luna	ri	1050000	128000	0.1 0.5 0.01 0.125;272000 0.2 0.75 0.02 0.25	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6-luna-pro	OpenAI: GPT-6 Luna Pro	ri	1050000	128000	0.1 0.5 0.01 0.125;272000 0.2 0.75 0.02 0.25	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6-luna-pro:batch	OpenAI: GPT-6 Luna Pro (batch)	ri	1050000	128000	0.05 0.25 0.005 0.0625;272000 0.1 0.375 0.01 0.125	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6-luna:batch	OpenAI: GPT-6 Luna (batch)	ri	1050000	128000	0.05 0.25 0.005 0.0625;272000 0.1 0.375 0.01 0.125	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6-sol	OpenAI: GPT-6 Sol	ri	1050000	128000	2 10 0.2 2.5;272000 4 15 0.4 5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6-sol-pro	OpenAI: GPT-6 Sol Pro	ri	1050000	128000	2 10 0.2 2.5;272000 4 15 0.4 5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6-sol-pro:batch	OpenAI: GPT-6 Sol Pro (batch)	ri	1050000	128000	1 5 0.1 1.25;272000 2 7.5 0.2 2.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6-sol:batch	OpenAI: GPT-6 Sol (batch)	ri	1050000	128000	1 5 0.1 1.25;272000 2 7.5 0.2 2.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6.1-sol	OpenAI: GPT-6.1 Sol	ri	1050000	128000	2 10 0.1 2.5;272000 4 15 0.2 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6.1-sol-pro	OpenAI: GPT-6.1 Sol Pro	ri	1050000	128000	2 10 0.1 2.5;272000 4 15 0.2 5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6.1-sol-pro:batch	OpenAI: GPT-6.1 Sol Pro (batch)	ri	1050000	128000	1 5 0.05 1.25;272000 2 7.5 0.1 2.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6.1-sol:batch	OpenAI: GPT-6.1 Sol (batch)	ri	1050000	128000	1 5 0.05 1.25;272000 2 7.5 0.1 2.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6.1-terra	OpenAI: GPT-6.1 Terra	ri	1050000	128000	1 5 0.05 1.25;272000 2 7.5 0.1 2.5	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6.1-terra-pro	OpenAI: GPT-6.1 Terra Pro	ri	1050000	128000	1 5 0.05 1.25;272000 2 7.5 0.1 2.5	off minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6.1-terra-pro:batch	OpenAI: GPT-6.1 Terra Pro (batch)	ri	1050000	128000	0.5 2.5 0.025 0.625;272000 1 3.75 0.05 1.25	off minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-6.1-terra:batch	OpenAI: GPT-6.1 Terra (batch)	ri	1050000	128000	0.5 2.5 0.025 0.625;272000 1 3.75 0.05 1.25	off=none minimal low=low medium=medium high=high xhigh=xhigh max=max
openai/gpt-audio	OpenAI: GPT Audio		128000	16384	2.5 10 0 0
openai/gpt-audio-mini	OpenAI: GPT Audio Mini		128000	16384	0.6 2.4 0 0
openai/gpt-chat-latest	OpenAI: GPT Chat Latest	i	400000	128000	5 30 0.5 0
openai/gpt-oss-120b	OpenAI: gpt-oss-120b	r	131072	65536	0.15 0.6 0.075 0	off minimal low=low medium=medium high=high xhigh max
openai/gpt-oss-120b:batch	OpenAI: gpt-oss-120b (batch)	r	131072	117964	0.0296 0.136 0 0	off minimal low=low medium=medium high=high xhigh max
openai/gpt-oss-20b	OpenAI: gpt-oss-20b	r	131072	117964	0.03 0.13 0.03 0	off minimal low=low medium=medium high=high xhigh max
openai/gpt-oss-20b:batch	OpenAI: gpt-oss-20b (batch)	r	131072	117964	0.024 0.112 0 0	off minimal low=low medium=medium high=high xhigh max
openai/gpt-oss-safeguard-20b	OpenAI: gpt-oss-safeguard-20b	r	131072	65536	0.075 0.3 0.0375 0	off
openai/o3	OpenAI: o3	ri	200000	100000	2 8 0.5 0	off
openai/o3-mini:batch	OpenAI: o3 Mini (batch)	r	200000	100000	0.55 2.2 0.275 0	off
openai/o3-pro	OpenAI: o3 Pro	ri	200000	100000	20 80 0 0	off
openai/o3:batch	OpenAI: o3 (batch)	ri	200000	100000	1 4 0.25 0	off
openai/o4-mini:batch	OpenAI: o4 Mini (batch)	ri	200000	100000	0.55 2.2 0.1375 0	off
openrouter/auto	Auto Router	ri	2000000	4096	0 0 0 0
openrouter/auto-beta	Auto Router (Beta)	ri	2000000	64000	0 0 0 0
openrouter/auto-code	Auto Code	ri	2000000	64000	0 0 0 0
openrouter/free	Free Models Router	ri	200000	4096	0 0 0 0
openrouter/fusion	OpenRouter: Fusion	r	1000000	30000	0 0 0 0
openrouter/pareto-code	Pareto Code Router	r	2000000	4096	0 0 0 0
particle-ai/particle-1	Particle AI: Particle-1	ri	1048576	131072	0.05 0.5 0.003 0	off=none minimal=minimal low=low medium=medium high=high xhigh=xhigh max=max
perceptron/perceptron-mk1.5	Perceptron: Perceptron Mk1.5	ri	36864	8192	0.15 1.5 0 0	off=none minimal=minimal low=low medium=medium high=high xhigh max
prism-ml/ternary-bonsai-2-27b	PrismML: Ternary Bonsai 2 27B	ri	262144	32768	0.075 0.5 0.0375 0	off=none minimal low medium=medium high xhigh=xhigh max
prism-ml/ternary-bonsai-2-9b	PrismML: Ternary Bonsai 2 9B	ri	262144	65536	0.08 0.13 0.04 0
qwen/qwen-2.5-72b-instruct	Qwen2.5 72B Instruct		32768	16384	0.36 0.4 0 0
qwen/qwen-2.5-7b-instruct	Qwen: Qwen2.5 7B Instruct		32768	29491	0.1 0.2 0 0
qwen/qwen-plus	Qwen: Qwen-Plus		1000000	32768	0.26 0.78 0.052 0.325;256000 0.78 2.34 0.156 0.975
qwen/qwen3-14b	Qwen: Qwen3 14B	r	40960	36864	0.1 0.22 0 0
qwen/qwen3-235b-a22b-2507	Qwen: Qwen3 235B A22B Instruct 2507		131072	117964	0.14 0.8 0.05 0
qwen/qwen3-235b-a22b-thinking-2507	Qwen: Qwen3 235B A22B Thinking 2507	r	128000	16384	0.45 3.5 0 0	off
qwen/qwen3-30b-a3b	Qwen: Qwen3 30B A3B	r	40960	16384	0.12 0.5 0 0
qwen/qwen3-30b-a3b-instruct-2507	Qwen: Qwen3 30B A3B Instruct 2507		262144	235929	0.1 0.3 0.1 0
qwen/qwen3-32b	Qwen: Qwen3 32B	r	40960	16384	0.08 0.28 0 0
qwen/qwen3-coder	Qwen: Qwen3 Coder 480B A35B		262144	65536	0.3 1 0.1 0
qwen/qwen3-coder-30b-a3b-instruct	Qwen: Qwen3 Coder 30B A3B Instruct		262144	235929	0.15 0.6 0 0
qwen/qwen3-coder-flash	Qwen: Qwen3 Coder Flash		1000000	65536	0.195 0.975 0.039 0.24375;32000 0.325 1.625 0.065 0.40625;128000 0.52 2.6 0.104 0.65
qwen/qwen3-coder-next	Qwen: Qwen3 Coder Next		262144	235929	0.12 0.8 0.07 0
qwen/qwen3-next-80b-a3b-instruct	Qwen: Qwen3 Next 80B A3B Instruct		262144	16384	0.09 1.1 0 0
qwen/qwen3-vl-235b-a22b-instruct	Qwen: Qwen3 VL 235B A22B Instruct	i	131072	32768	0.21 1.9 0.1 0
qwen/qwen3-vl-30b-a3b-instruct	Qwen: Qwen3 VL 30B A3B Instruct	i	262144	16384	0.15 0.6 0 0
qwen/qwen3-vl-30b-a3b-thinking	Qwen: Qwen3 VL 30B A3B Thinking	ri	262144	235929	0.29 1 0 0	off
qwen/qwen3-vl-8b-instruct	Qwen: Qwen3 VL 8B Instruct	i	262144	235929	0.25 0.75 0.12 0
qwen/qwen3.5-122b-a10b	Qwen: Qwen3.5-122B-A10B	ri	262144	65536	0.26 2.08 0 0
qwen/qwen3.5-27b	Qwen: Qwen3.5-27B	ri	262144	81920	0.26 2.6 0 0
qwen/qwen3.5-35b-a3b	Qwen: Qwen3.5-35B-A3B	ri	262144	81920	0.14 1 0.05 0
qwen/qwen3.5-397b-a17b	Qwen: Qwen3.5 397B A17B	ri	256000	64000	0.6 3.6 0.12 0
qwen/qwen3.5-9b	Qwen: Qwen3.5-9B	ri	262144	235929	0.17 0.25 0 0
qwen/qwen3.5-flash-02-23	Qwen: Qwen3.5-Flash	ri	1000000	65536	0.065 0.26 0 0
qwen/qwen3.5-plus-02-15	Qwen: Qwen3.5 Plus 2026-02-15	ri	1000000	65536	0.26 1.56 0 0;256000 0.325 1.95 0 0
qwen/qwen3.5-plus-20260420	Qwen: Qwen3.5 Plus 2026-04-20	ri	1000000	65536	0.3 1.8 0 0.375;256000 0.375 2.25 0 0.46875
qwen/qwen3.6-27b	Qwen: Qwen3.6 27B	ri	262144	81920	0.32 3.2 0 0
qwen/qwen3.6-35b-a3b	Qwen: Qwen3.6 35B A3B	ri	262144	235929	0.1 0.9 0.025 0
qwen/qwen3.6-flash	Qwen: Qwen3.6 Flash	ri	1000000	65536	0.1875 1.125 0 0.234375;256000 0.75 3 0 0.9375
qwen/qwen3.6-plus	Qwen: Qwen3.6 Plus	ri	1000000	65536	0.325 1.95 0 0.40625;256000 1.3 3.9 0 1.625
qwen/qwen3.7-flash	Qwen: Qwen3.7 Flash	ri	1000000	65536	0.03 0.13 0.006 0.038;32000 0.1 0.4 0.02 0.125;256000 0.2 0.8 0.04 0.25
qwen/qwen3.7-max	Qwen: Qwen3.7 Max	r	1000000	131072	1.475 4.425 0.295 1.84375
qwen/qwen3.7-plus	Qwen: Qwen3.7 Plus	ri	1000000	131072	0.32 1.28 0.064 0.4;256000 0.96 3.84 0.192 1.2
qwen/qwen3.7-plus:batch	Qwen: Qwen3.7 Plus (batch)	ri	262144	131072	0.23 0.92 0 0
qwen/qwen3.8-2.4t-a95b	Qwen: Qwen3.8 2.4T A95B	r	1048576	131072	2 6 0.25 0	off minimal low=low medium=medium high xhigh=xhigh max
qwen/qwen3.8-27b	Qwen: Qwen3.8 27B	ri	262144	235929	0.15 1.875 0.0375 0	off=none minimal low=low medium=medium high xhigh=xhigh max
qwen/qwen3.8-27b:batch	Qwen: Qwen3.8 27B (batch)	ri	262144	235929	0.16 2 0.04 0	off=none minimal low=low medium=medium high xhigh=xhigh max
qwen/qwen3.8-flash	Qwen: Qwen3.8 Flash	ri	1000000	131072	0.15 0.47 0.016 0
qwen/qwen3.8-max-0902	Qwen: Qwen3.8 Max (0902)	ri	1000000	131072	2 6 0.25 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max
qwen/qwen3.8-max-0902:batch	Qwen: Qwen3.8 Max (0902) (batch)	ri	262144	131072	1.15 3.45 0 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max
qwen/qwen3.8-max-prime	Qwen: Qwen3.8 Max Prime	ri	1000000	131072	4 12 0.5 0	off minimal=minimal low=low medium=medium high=high xhigh=xhigh max
qwen/qwen3.8-omni-flash	Qwen: Qwen3.8 Omni Flash	ri	1000000	131072	0.15 0.47 0.016 0
recursive/flint-v1.0:free	Recursive: Flint (free)	r	262144	235929	0 0 0 0	off
reflection/beam-1.0-501b-a23b	Reflection: Beam 1.0 501B A23B	r	1048576	943718	0.3 1 0.04 0	off minimal low=low medium=medium high=high xhigh=xhigh max=max
rekaai/reka-edge	Reka Edge	i	16384	14745	0.1 0.1 0 0
relace/relace-search	Relace: Relace Search		256000	128000	1 3 0 0
ricursiveai/ripple-65b-preview	Ricursive: Ripple 65B Preview	r	1048576	131072	0.2 0.6 0.05 0
sakana/fugu-max	Sakana: Fugu Max	ri	1000000	128000	2 6 0.25 0	off minimal low medium high=high xhigh=xhigh max=max
sakana/fugu-ultra	Sakana: Fugu Ultra	ri	1000000	128000	5 30 0.5 0;272000 10 45 1 0	off minimal low medium high=high xhigh=xhigh max=max
sakana/fugu-ultra-v2	Sakana: Fugu Ultra v2	ri	1000000	128000	5 30 0.5 0;272000 10 45 1 0	off minimal low medium high=high xhigh=xhigh max=max
sakana/sakana-namazu	Sakana: Sakana Namazu	ri	262144	65536	0.95 4 0.15 0	off=none minimal low medium high=high xhigh max
stepfun/step-3.5-flash	StepFun: Step 3.5 Flash	r	262144	65536	0.1 0.3 0 0	off
stepfun/step-3.7-flash	StepFun: Step 3.7 Flash	ri	256000	230400	0.2 1.15 0.04 0	off minimal low=low medium=medium high=high xhigh max
stepfun/step-5-preview	StepFun: Step 5 Preview	ri	1000000	64000	1 2.7 0.1 0	off minimal low=low medium=medium high=high xhigh max
tencent/hy3	Tencent: Hy3	r	262144	128000	0.132 0.528 0.033 0	off=none minimal low=low medium high=high xhigh max
tencent/hy3-preview	Tencent: Hy3 preview	r	262144	235929	0.18 0.6 0.06 0	off=none minimal low=low medium high=high xhigh max
tencent/hy4	Tencent: Hy4	ri	1048576	65536	0.417 1.2505 0.021 0	off=none minimal low=low medium high=high xhigh max
tencent/hy4-preview	Tencent: Hy4 preview	r	1048576	64000	0.834 2.501 0.042 0	off=none minimal low=low medium high=high xhigh max
thinkingmachines/inkling	Thinking Machines: Inkling	ri	524288	471859	1 4.05 0.17 0	off=none minimal=minimal low=low medium=medium high=high xhigh max=max
thinkingmachines/inkling-2-small:free	Thinking Machines: Inkling 2 Small (free)	ri	1048576	131072	0 0 0 0	off minimal=minimal low=low medium=medium high=high xhigh max=max
thinkingmachines/inkling-small	Thinking Machines: Inkling Small	ri	524288	262144	0.45 1.2 0.1 0	off=none minimal=minimal low=low medium=medium high=high xhigh max=max
thinkingmachines/inkling-small:batch	Thinking Machines: Inkling Small (batch)	ri	524288	262144	0.36 0.96 0.08 0	off=none minimal=minimal low=low medium=medium high=high xhigh max=max
typesafe/jev-router	TypeSafe: Jev Router	ri	1000000	64000	0 0 0 0
unbiased/pareto-26.10	Pareto 26.10	i	1048576	131072	0.8 3.2 0.03 0
unbiased/pareto-26.9	Pareto 26.9	i	262144	131072	2.5 7.5 0.25 0
upstage/solar-mini4	Upstage: Solar Mini 4	r	524288	131072	0.05 0.2 0.005 0	off=none minimal=minimal low=low medium=medium high=high xhigh=xhigh max=max
upstage/solar-pro4	Upstage: Solar Pro 4	r	524288	131072	0.15 0.6 0.03 0	off=none minimal=minimal low=low medium=medium high=high xhigh=xhigh max=max
x-ai/grok-4.20	SpaceXAI: Grok 4.20	ri	2000000	1800000	1.25 2.5 0.2 0;200000 2.5 5 0.4 0
x-ai/grok-4.3	SpaceXAI: Grok 4.3	ri	1000000	900000	1.25 2.5 0.2 0;200000 2.5 5 0.4 0	off=none minimal low=low medium=medium high=high xhigh max
x-ai/grok-4.3:batch	SpaceXAI: Grok 4.3 (batch)	ri	1000000	900000	1 2 0.16 0;200000 2 4 0.32 0	off=none minimal low=low medium=medium high=high xhigh max
x-ai/grok-4.5	SpaceXAI: Grok 4.5	ri	500000	450000	2 6 0.3 0;200000 4 12 0.6 0	off minimal low=low medium=medium high=high xhigh max
x-ai/grok-4.6	SpaceXAI: Grok 4.6	ri	500000	450000	2 6 0.5 0;200000 4 12 1 0	off minimal low=low medium=medium high=high xhigh=xhigh max
x-ai/grok-4.6:batch	SpaceXAI: Grok 4.6 (batch)	ri	500000	450000	1.6 4.8 0.4 0;200000 3.2 9.6 0.8 0	off minimal low=low medium=medium high=high xhigh=xhigh max
x-ai/grok-4.7	SpaceXAI: Grok 4.7	ri	500000	450000	2 6 0.5 0;200000 4 12 1 0	off minimal low=low medium=medium high=high xhigh=xhigh max
x-ai/grok-4.7:batch	SpaceXAI: Grok 4.7 (batch)	ri	500000	450000	1.6 4.8 0.4 0;200000 3.2 9.6 0.8 0	off minimal low=low medium=medium high=high xhigh=xhigh max
x-ai/grok-build-0.1	SpaceXAI: Grok Build 0.1	ri	256000	230400	1 2 0.2 0;200000 2 4 0.4 0	off
xiaomi/mimo-v2.5	Xiaomi: MiMo-V2.5	ri	1000000	65536	0.4 2 0.08 0
xiaomi/mimo-v2.5-pro	Xiaomi: MiMo-V2.5-Pro	r	262144	235929	0.48 1.8 0.096 0
xiaomi/mimo-v2.6-flash	Xiaomi: MiMo-V2.6-Flash	ri	1048576	131072	0.14 0.28 0.0028 0
xiaomi/mimo-v2.6-pro	Xiaomi: MiMo-V2.6-Pro	ri	1048576	131072	0.435 0.87 0.0036 0
xiaomi/mimo-v2.6-pro-ultraspeed	Xiaomi: MiMo-V2.6-Pro-UltraSpeed	ri	1048576	131072	4.35 8.7 0.036 0
xingchen-agi/xing4.0-29b-a4b:free	XingChen: Xing4.0 29B A4B (free)	r	262144	235929	0 0 0 0
z-ai/glm-4.5	Z.ai: GLM 4.5	r	131072	98304	0.6 2.2 0.11 0
z-ai/glm-4.5-air	Z.ai: GLM 4.5 Air	r	131072	98304	0.2 1.1 0.03 0
z-ai/glm-4.5v	Z.ai: GLM 4.5V	ri	65536	16384	0.6 1.8 0.11 0
z-ai/glm-4.6	Z.ai: GLM 4.6	r	202752	131072	0.5 2 0.1 0
z-ai/glm-4.6v	Z.ai: GLM 4.6V	ri	131072	32768	0.3 0.9 0.055 0
z-ai/glm-4.7	Z.ai: GLM 4.7	r	204800	131072	0.6 2.2 0.11 0
z-ai/glm-4.7-flash	Z.ai: GLM 4.7 Flash	r	131072	117964	0.0605 0.4 0 0
z-ai/glm-5	Z.ai: GLM 5	r	202752	131072	0.6 1.9 0.119 0
z-ai/glm-5-turbo	Z.ai: GLM 5 Turbo	r	202752	131072	1.2 4 0.24 0
z-ai/glm-5.1	Z.ai: GLM 5.1	r	202752	131072	1.4 4.4 0.26 0
z-ai/glm-5.2	Z.ai: GLM 5.2	r	1048576	943718	0.0062 6.8 0.0052 0	off=none minimal low medium high=high xhigh=xhigh max
z-ai/glm-5.2:batch	Z.ai: GLM 5.2 (batch)	r	1048576	943718	0.527 1.075 0.178 0	off=none minimal low medium high=high xhigh=xhigh max
z-ai/glm-5.3	Z.ai: GLM 5.3	r	1048576	943718	0.0699 1.4 0.0689 0	off minimal low=low medium high=high xhigh max=max
z-ai/glm-5.3-flash	Z.ai: GLM 5.3 Flash	ri	1048575	943717	0.15 0.5 0.03 0	off minimal low=low medium high=high xhigh max=max
z-ai/glm-5.3-flash:batch	Z.ai: GLM 5.3 Flash (batch)	ri	1048576	943718	0.03 0.061 0.013 0	off minimal low=low medium high=high xhigh max=max
z-ai/glm-5.3-flashx	Z.ai: GLM 5.3 FlashX	ri	1048576	131072	0.37 1.25 0.075 0	off minimal low=low medium high=high xhigh max=max
z-ai/glm-5.3-flashx-legal	Z.ai: GLM 5.3 FlashX Legal	ri	1048576	131072	0.37 1.25 0.075 0	off minimal low=low medium high=high xhigh max=max
z-ai/glm-5.3-prime	Z.ai: GLM 5.3 Prime	r	1000000	131072	2.8 8.8 0.56 0	off minimal low=low medium high=high xhigh max=max
z-ai/glm-5.3:batch	Z.ai: GLM 5.3 (batch)	r	1048576	131072	0.45 2 0.1 0	off minimal low=low medium high=high xhigh max=max
z-ai/glm-5v-turbo	Z.ai: GLM 5V Turbo	ri	202752	131072	1.2 4 0.24 0
# qwen-token-plan
@ openai-completions https://token-plan.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1
deepseek-v3.2	DeepSeek V3.2	r	131072	65536	0 0 0 0
deepseek-v4-flash	DeepSeek V4 Flash	r	1000000	384000	0 0 0 0	off minimal low medium high=high xhigh max=max
deepseek-v4-flash-0731	DeepSeek V4 Flash 0731	r	1000000	384000	0 0 0 0	off minimal low medium high=high xhigh max=max
deepseek-v4-pro	DeepSeek V4 Pro	r	1000000	384000	0 0 0 0	off minimal low medium high=high xhigh max=max
deepseek-v4-pro-0813	DeepSeek V4 Pro 0813	r	1000000	384000	0 0 0 0	off minimal low medium high=high xhigh max=max
deepseek-v4.1-flash	DeepSeek V4.1 Flash	ri	1000000	384000	0 0 0 0	off minimal low=low medium high=high xhigh max=max
deepseek-v4.1-flash-1017	DeepSeek V4.1 Flash 1017	ri	1000000	384000	0 0 0 0	off minimal low=low medium high=high xhigh max=max
glm-5	GLM-5	r	202752	16384	0 0 0 0	minimal low medium high=high xhigh max=max
glm-5.1	GLM-5.1	r	202752	128000	0 0 0 0	minimal low medium high=high xhigh max=max
glm-5.2	GLM-5.2	r	1000000	131072	0 0 0 0	off minimal low medium high=high xhigh max=max
glm-5.3	GLM-5.3	r	1000000	131072	0 0 0 0	off minimal low=low medium high=high xhigh max=max
kimi-k2.5	Kimi K2.5	ri	262144	98304	0 0 0 0
kimi-k2.6	Kimi K2.6	ri	262144	262144	0 0 0 0
kimi-k2.7-code	Kimi K2.7 Code	ri	262144	262144	0 0 0 0
MiniMax-M2.5		r	196608	32768	0 0 0 0
qwen3.6-flash	Qwen3.6 Flash	ri	1000000	65536	0 0 0 0
qwen3.6-plus	Qwen3.6 Plus	ri	1000000	65536	0 0 0 0
qwen3.7-max	Qwen3.7 Max	r	1000000	131072	0 0 0 0
qwen3.7-plus	Qwen3.7 Plus	ri	1000000	65536	0 0 0 0
qwen3.8-flash	Qwen3.8 Flash	ri	1000000	131072	0 0 0 0	off minimal low=low medium=medium high xhigh=xhigh max
qwen3.8-max	Qwen3.8 Max	ri	1000000	131072	0 0 0 0	off minimal low=low medium=medium high xhigh=xhigh max
# qwen-token-plan-cn
@ openai-completions https://token-plan.cn-beijing.maas.aliyuncs.com/compatible-mode/v1
deepseek-v3.2	DeepSeek V3.2	r	131072	65536	0 0 0 0
deepseek-v4-flash	DeepSeek V4 Flash	r	1000000	384000	0 0 0 0	off minimal low medium high=high xhigh max=max
deepseek-v4-flash-0731	DeepSeek V4 Flash 0731	r	1000000	384000	0 0 0 0	off minimal low medium high=high xhigh max=max
deepseek-v4-pro	DeepSeek V4 Pro	r	1000000	384000	0 0 0 0	off minimal low medium high=high xhigh max=max
deepseek-v4-pro-0813	DeepSeek V4 Pro 0813	r	1000000	384000	0 0 0 0	off minimal low medium high=high xhigh max=max
deepseek-v4.1-flash	DeepSeek V4.1 Flash	ri	1000000	384000	0 0 0 0	off minimal low=low medium high=high xhigh max=max
deepseek-v4.1-flash-1017	DeepSeek V4.1 Flash 1017	ri	1000000	384000	0 0 0 0	off minimal low=low medium high=high xhigh max=max
glm-5	GLM-5	r	202752	16384	0 0 0 0	minimal low medium high=high xhigh max=max
glm-5.1	GLM-5.1	r	202752	128000	0 0 0 0	minimal low medium high=high xhigh max=max
glm-5.2	GLM-5.2	r	1000000	131072	0 0 0 0	off minimal low medium high=high xhigh max=max
glm-5.3	GLM-5.3	r	1000000	131072	0 0 0 0	off minimal low=low medium high=high xhigh max=max
kimi-k2.5	Kimi K2.5	ri	262144	98304	0 0 0 0
kimi-k2.6	Kimi K2.6	ri	262144	262144	0 0 0 0
kimi-k2.7-code	Kimi K2.7 Code	ri	262144	262144	0 0 0 0
MiniMax-M2.5		r	196608	32768	0 0 0 0
qwen3.6-flash	Qwen3.6 Flash	ri	1000000	65536	0 0 0 0
qwen3.6-plus	Qwen3.6 Plus	ri	1000000	65536	0 0 0 0
qwen3.7-max	Qwen3.7 Max	r	1000000	131072	0 0 0 0
qwen3.7-plus	Qwen3.7 Plus	ri	1000000	65536	0 0 0 0
qwen3.8-flash	Qwen3.8 Flash	ri	1000000	131072	0 0 0 0	off minimal low=low medium=medium high xhigh=xhigh max
qwen3.8-max	Qwen3.8 Max	ri	1000000	131072	0 0 0 0	off minimal low=low medium=medium high xhigh=xhigh max
# qwen-token-plan-individual
@ openai-completions https://token-plan.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1
deepseek-v4-flash-0731	DeepSeek V4 Flash 0731	r	1000000	384000	0 0 0 0	off minimal low medium high=high xhigh max=max
deepseek-v4-pro	DeepSeek V4 Pro	r	1000000	384000	0 0 0 0	off minimal low medium high=high xhigh max=max
deepseek-v4-pro-0813	DeepSeek V4 Pro 0813	r	1000000	384000	0 0 0 0	off minimal low medium high=high xhigh max=max
glm-5.2	GLM-5.2	r	1000000	131072	0 0 0 0	off minimal low medium high=high xhigh max=max
glm-5.3	GLM-5.3	r	1000000	131072	0 0 0 0	off minimal low=low medium high=high xhigh max=max
qwen3.6-flash	Qwen3.6 Flash	ri	1000000	65536	0 0 0 0
qwen3.7-max	Qwen3.7 Max	r	1000000	131072	0 0 0 0
qwen3.7-plus	Qwen3.7 Plus	ri	1000000	65536	0 0 0 0
qwen3.8-flash	Qwen3.8 Flash	ri	1000000	131072	0 0 0 0	off minimal low=low medium=medium high xhigh=xhigh max
qwen3.8-max	Qwen3.8 Max	ri	1000000	131072	0 0 0 0	off minimal low=low medium=medium high xhigh=xhigh max
# qwen-token-plan-individual-cn
@ openai-completions https://token-plan.cn-beijing.maas.aliyuncs.com/compatible-mode/v1
deepseek-v4-flash-0731	DeepSeek V4 Flash 0731	r	1000000	384000	0 0 0 0	off minimal low medium high=high xhigh max=max
deepseek-v4-pro	DeepSeek V4 Pro	r	1000000	384000	0 0 0 0	off minimal low medium high=high xhigh max=max
deepseek-v4-pro-0813	DeepSeek V4 Pro 0813	r	1000000	384000	0 0 0 0	off minimal low medium high=high xhigh max=max
glm-5.2	GLM-5.2	r	1000000	131072	0 0 0 0	off minimal low medium high=high xhigh max=max
glm-5.3	GLM-5.3	r	1000000	131072	0 0 0 0	off minimal low=low medium high=high xhigh max=max
qwen3.6-flash	Qwen3.6 Flash	ri	1000000	65536	0 0 0 0
qwen3.7-max	Qwen3.7 Max	r	1000000	131072	0 0 0 0
qwen3.7-plus	Qwen3.7 Plus	ri	1000000	65536	0 0 0 0
qwen3.8-flash	Qwen3.8 Flash	ri	1000000	131072	0 0 0 0	off minimal low=low medium=medium high xhigh=xhigh max
qwen3.8-max	Qwen3.8 Max	ri	1000000	131072	0 0 0 0	off minimal low=low medium=medium high xhigh=xhigh max
# together
@ openai-completions https://api.together.ai/v1
deepseek-ai/DeepSeek-V4-Pro-0813	DeepSeek V4 Pro 0813	r	1048576	384000	1.32 3.96 0.13 0	minimal low medium high=high xhigh
deepseek-ai/DeepSeek-V4.1-Flash	DeepSeek V4.1 Flash	ri	1048576	384000	0.3 1.2 0.006 0	minimal low medium
meta-models/Muse-Spark-Open-816B-A42B	Muse Spark Open	ri	1048576	131072	1.25 4.25 0.15 0	minimal low medium
MiniMaxAI/MiniMax-M3	MiniMax-M3	ri	524288	524288	0.3 1.2 0.06 0	minimal low medium
moonshotai/Kimi-K3	Kimi K3	ri	1048576	131072	3 15 0.3 0	minimal low medium
moonshotai/Kimi-K3.1-Pro	Kimi K3.1 Pro	ri	1048576	131072	2 10 0.2 0	minimal low medium
nvidia/NVIDIA-Nemotron-3.5-Super-VL	Nemotron 3.5 Super VL 120B A12B	ri	262144	262144	0.15 0.5 0.02 0	minimal low medium
openai/gpt-oss-120b	GPT OSS 120B	r	131072	131072	0.15 0.6 0 0	off minimal low=low medium=medium high=high xhigh max
Qwen/Qwen3.5-9B	Qwen3.5 9B	ri	262144	65536	0.17 0.25 0 0	minimal low medium
Qwen/Qwen3.6-Plus	Qwen3.6 Plus	r	1000000	65536	0.5 3 0 0	minimal low medium
Qwen/Qwen3.7-Max	Qwen3.7 Max	r	1000000	131072	2.5 7.5 0.5 0	minimal low medium
reflection/Beam-1.0-501B-A23B	Beam 1.0 501B A23B	r	1048576	131072	0.4 1.2 0.04 0	minimal low medium
thinkingmachines/Inkling	Inkling	ri	524288	131072	1 4.05 0.17 0	minimal low medium
zai-org/GLM-5.2	GLM-5.2	r	1048575	164000	1.4 4.4 0.26 0	minimal low medium
zai-org/GLM-5.3	GLM-5.3	r	1048575	262144	1.4 4.4 0.26 0	minimal low medium
zai-org/GLM-5.3-Flash	GLM-5.3-Flash	ri	1048575	400000	0.15 0.5 0.03 0	minimal low medium
# vercel-ai-gateway
@ anthropic-messages https://ai-gateway.vercel.sh
alibaba/qwen-3-14b	Qwen3-14B	r	40960	16384	0.12 0.24 0 0
alibaba/qwen-3-235b	Qwen3 235B A22B		262144	16384	0.22 0.88 0 0
alibaba/qwen-3-30b	Qwen3-30B-A3B	r	40960	16384	0.12 0.5 0 0
alibaba/qwen-3-32b	Qwen 3 32B	r	128000	8192	0.15 0.6 0 0
alibaba/qwen3-coder	Qwen3 Coder 480B A35B Instruct		262144	32768	0.22 1.8 0.022 0
alibaba/qwen3-coder-30b-a3b	Qwen 3 Coder 30B A3B Instruct		262144	8192	0.15 0.6 0 0
alibaba/qwen3-coder-next	Qwen3 Coder Next		256000	256000	0.5 1.2 0 0
alibaba/qwen3-max-thinking	Qwen 3 Max Thinking	r	256000	65536	1.2 6 0.24 0;32000 2.4 12 0.48 0;128000 3 15 0.6 0
alibaba/qwen3-next-80b-a3b-instruct	Qwen3 Next 80B A3B Instruct		262114	262114	0.15 1.2 0 0
alibaba/qwen3-next-80b-a3b-thinking	Qwen3 Next 80B A3B Thinking	r	262144	262144	0.15 1.2 0 0
alibaba/qwen3-vl-instruct	Qwen3 VL 235B A22B Instruct	i	262144	262144	0.2 0.88 0.11 0
alibaba/qwen3.5-flash	Qwen 3.5 Flash	ri	1000000	64000	0.1 0.4 0.01 0.125
alibaba/qwen3.5-plus	Qwen 3.5 Plus	ri	1000000	64000	0.4 2.4 0.04 0.5;256000 0.5 3 0.05 0.625
alibaba/qwen3.6-27b	Qwen 3.6 27B	ri	256000	256000	0.6 3.6 0 0
alibaba/qwen3.6-plus	Qwen 3.6 Plus	ri	1000000	64000	0.5 3 0.05 0.625;255999 2 6 0.2 2.5
alibaba/qwen3.7-flash	Qwen 3.7 Flash	ri	991000	64000	0.03 0.13 0.006 0.038;31999 0.1 0.4 0.02 0.125;255999 0.2 0.8 0.04 0.25
alibaba/qwen3.7-max	Qwen 3.7 Max	r	991000	64000	2.5 7.5 0.5 3.125
alibaba/qwen3.7-plus	Qwen 3.7 Plus	ri	1000000	64000	0.4 1.6 0.08 0.5;255999 1.2 4.8 0.24 1.5
alibaba/qwen3.8-2.4t-a95b	Qwen3.8 2.4T A95B	ri	262144	128000	2 6 0.25 0
alibaba/qwen3.8-27b	Qwen3.8 27B	ri	262144	262144	0.06 2.3 0.059 0
alibaba/qwen3.8-flash	Qwen 3.8 Flash	ri	991000	128000	0.15 0.47 0.016 0.2
alibaba/qwen3.8-max	Qwen 3.8 Max	ri	262144	128000	2 6 0.25 0
alibaba/qwen3.8-max-0902	Qwen3.8 Max 0902	ri	991000	128000	2 6 0.25 2.5
alibaba/qwen3.8-max-prime	Qwen 3.8 Max Prime	ri	1000000	131072	4 12 0.5 5
alibaba/qwen3.8-omni-flash	Qwen 3.8 Omni Flash	ri	1000000	131072	0.15 0.47 0.016 0
amazon/nova-2-lite	Nova 2 Lite	ri	1000000	1000000	0.33 2.75 0.0825 0
amazon/nova-lite	Nova Lite	i	300000	8192	0.06 0.24 0.015 0
amazon/nova-micro	Nova Micro		128000	8192	0.035 0.14 0.0087 0
amazon/nova-pro	Nova Pro	i	300000	8192	0.8 3.2 0.2 0
anthropic/claude-fable-5	Claude Fable 5	ri	1000000	128000	10 50 1 12.5	off xhigh=xhigh max=max
anthropic/claude-fable-5-batch	Claude Fable 5 (Batch)	ri	1000000	128000	5 25 0.5 6.25	off xhigh=xhigh max=max
anthropic/claude-fable-5.1	Claude Fable 5.1	ri	1000000	128000	10 50 0.25 12.5	off xhigh=xhigh max=max
anthropic/claude-fable-5.1-batch	Claude Fable 5.1 (Batch)	ri	1000000	128000	5 25 0.125 6.25	off xhigh=xhigh max=max
anthropic/claude-fable-5.2	Claude Fable 5.2	ri	1000000	128000	8 40 0.2 10	off xhigh=xhigh max=max
anthropic/claude-fable-5.2-batch	Claude Fable 5.2 (Batch)	ri	1000000	128000	4 20 0.1 5	off xhigh=xhigh max=max
anthropic/claude-fable-5.2-fast	Claude Fable 5.2 (Fast)	ri	1000000	128000	16 80 0.4 20	off xhigh=xhigh max=max
anthropic/claude-haiku-4.5	Claude Haiku 4.5	ri	200000	64000	1 5 0.1 1.25
anthropic/claude-haiku-4.5-batch	Claude Haiku 4.5 (Batch)	ri	200000	64000	0.5 2.5 0.05 0.625
anthropic/claude-haiku-5.5	Claude Haiku 5.5	ri	1000000	128000	0.1 0.5 0.01 0.125;100000 0.5 2.5 0.05 0.625	xhigh=xhigh max=max
anthropic/claude-haiku-5.5-batch	Claude Haiku 5.5 (Batch)	ri	1000000	128000	0.05 0.25 0.005 0.0625;100000 0.25 1.25 0.025 0.3125	xhigh=xhigh max=max
anthropic/claude-opus-4.5	Claude Opus 4.5	ri	200000	64000	5 25 0.5 6.25
anthropic/claude-opus-4.5-batch	Claude Opus 4.5 (Batch)	ri	200000	64000	2.5 12.5 0.25 3.125
anthropic/claude-opus-4.6	Claude Opus 4.6	ri	1000000	128000	5 25 0.5 6.25	max=max
anthropic/claude-opus-4.6-batch	Claude Opus 4.6 (Batch)	ri	1000000	128000	2.5 12.5 0.25 3.125	max=max
anthropic/claude-opus-4.7	Claude Opus 4.7	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
anthropic/claude-opus-4.7-batch	Claude Opus 4.7 (Batch)	ri	1000000	128000	2.5 12.5 0.25 3.125	xhigh=xhigh max=max
anthropic/claude-opus-4.8	Claude Opus 4.8	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
anthropic/claude-opus-4.8-batch	Claude Opus 4.8 (Batch)	ri	1000000	128000	2.5 12.5 0.25 3.125	xhigh=xhigh max=max
anthropic/claude-opus-4.8-fast	Claude Opus 4.8 (Fast)	ri	1000000	128000	10 50 1 12.5	xhigh=xhigh max=max
anthropic/claude-opus-5	Claude Opus 5	ri	1000000	128000	5 25 0.5 6.25	xhigh=xhigh max=max
anthropic/claude-opus-5-batch	Claude Opus 5 (Batch)	ri	1000000	128000	2.5 12.5 0.25 3.125	xhigh=xhigh max=max
anthropic/claude-opus-5-fast	Claude Opus 5 (Fast)	ri	1000000	128000	10 50 1 12.5	xhigh=xhigh max=max
anthropic/claude-opus-5.5	Claude Opus 5.5	ri	1000000	128000	4 20 0.2 5	xhigh=xhigh max=max
anthropic/claude-opus-5.5-batch	Claude Opus 5.5 (Batch)	ri	1000000	128000	2 10 0.1 2.5	xhigh=xhigh max=max
anthropic/claude-opus-5.5-fast	Claude Opus 5.5 (Fast)	ri	1000000	128000	8 40 0.4 10	xhigh=xhigh max=max
anthropic/claude-sonnet-4.5	Claude Sonnet 4.5	ri	1000000	64000	3 15 0.3 3.75;200000 6 22.5 0.6 7.5
anthropic/claude-sonnet-4.5-batch	Claude Sonnet 4.5 (Batch)	ri	1000000	64000	1.5 7.5 0.15 1.875;200000 3 11.25 0.3 3.75
anthropic/claude-sonnet-4.6	Claude Sonnet 4.6	ri	1000000	128000	3 15 0.3 3.75	max=max
anthropic/claude-sonnet-4.6-batch	Claude Sonnet 4.6 (Batch)	ri	1000000	128000	1.5 7.5 0.15 1.875	max=max
anthropic/claude-sonnet-5	Claude Sonnet 5	ri	1000000	128000	2 10 0.2 2.5	xhigh=xhigh max=max
anthropic/claude-sonnet-5-batch	Claude Sonnet 5 (Batch)	ri	1000000	128000	1 5 0.1 1.25	xhigh=xhigh max=max
anthropic/claude-sonnet-5.5	Claude Sonnet 5.5	ri	1000000	128000	2 10 0.1 2.5	xhigh=xhigh max=max
anthropic/claude-sonnet-5.5-batch	Claude Sonnet 5.5 (Batch)	ri	1000000	128000	1 5 0.05 1.25	xhigh=xhigh max=max
bytedance/seed-1.6	Seed 1.6	ri	256000	32000	0.25 2 0.05 0;128000 0.5 4 0.05 0
bytedance/seed-1.8	Bytedance Seed 1.8	ri	256000	64000	0.25 2 0.05 0;128000 0.5 4 0.05 0
bytedance/seed-2.1-turbo	Seed 2.1 Turbo	ri	262144	262144	0.5 2.5 0.1 0
callstack/apex	Apex	ri	262144	131072	0.5 3 0.2 0
cohere/command-a	Command A		256000	8000	2.5 10 0 0
deepseek/deepseek-r1	DeepSeek-R1	r	128000	8192	1.35 5.4 0 0
deepseek/deepseek-v3.1	DeepSeek V3.1	r	163840	128000	0.25 0.95 0.13 0
deepseek/deepseek-v3.2	DeepSeek V3.2		128000	8000	0.62 1.85 0 0
deepseek/deepseek-v3.2-thinking	DeepSeek V3.2 Thinking		128000	8000	0.62 1.85 0 0
deepseek/deepseek-v4-flash	DeepSeek V4 Flash	r	1000000	384000	0.13 0.26 0.028 0
deepseek/deepseek-v4-flash-0731	DeepSeek V4 Flash 0731	r	1000000	384000	0.13 0.26 0.028 0
deepseek/deepseek-v4-flash-vision-exp	DeepSeek V4 Flash Vision Exp	ri	1048576	1048576	0.2156 0.6468 0.0068 0
deepseek/deepseek-v4-pro	DeepSeek V4 Pro	r	1048600	1048600	1.32 3.96 0.132 0
deepseek/deepseek-v4-pro-0813	DeepSeek V4 Pro 0813	r	1000000	384000	0.66 1.98 0.066 0
deepseek/deepseek-v4.1-flash	DeepSeek V4.1 Flash	ri	1048576	32768	0.3 1.2 0.007 0
deepseek/deepseek-v4.1-flash-1017	DeepSeek V4.1 Flash 1017	ri	1048576	262144	0.3 1.2 0.007 0
deepseek/deepseek-v4.1-flash-1017-fast	DeepSeek V4.1 Flash 1017 Fast	ri	1048576	262144	0.6 2.4 0.014 0
deepseek/deepseek-v4.1-flash-1017-ultrafast	DeepSeek V4.1 Flash 1017 Ultrafast	ri	1048576	1048576	2.4 9.6 0.048 0
deepseek/deepseek-v4.1-flash-fast	DeepSeek V4.1 Flash Fast	ri	1048576	32768	0.6 2.4 0.014 0
fireworks/ember-1	Ember-1	ri	1048576	1048576	3 15 0.3 0
google/gemini-2.5-flash	Gemini 2.5 Flash	ri	1000000	65535	0.3 2.5 0.03 0
google/gemini-2.5-flash-batch	Gemini 2.5 Flash (Batch)	ri	1000000	64000	0.15 1.25 0.03 0
google/gemini-2.5-flash-lite	Gemini 2.5 Flash Lite	ri	1048576	65535	0.1 0.4 0.01 0
google/gemini-2.5-flash-lite-batch	Gemini 2.5 Flash Lite (Batch)	ri	1048576	65535	0.05 0.2 0.01 0
google/gemini-2.5-pro	Gemini 2.5 Pro	ri	1048576	65535	1.25 10 0.125 0;200000 2.5 15 0.25 0
google/gemini-2.5-pro-batch	Gemini 2.5 Pro (Batch)	ri	1048576	65535	0.625 5 0.125 0;200000 1.25 7.5 0.25 0
google/gemini-3-flash	Gemini 3 Flash	ri	1000000	65000	0.5 3 0.05 0;200000 0.5 3 0.05 0
google/gemini-3-flash-batch	Gemini 3 Flash (Batch)	ri	1000000	64000	0.25 1.5 0.05 0;200000 0.25 1.5 0.05 0
google/gemini-3.1-flash-lite	Gemini 3.1 Flash Lite	ri	1000000	65000	0.25 1.5 0.03 0
google/gemini-3.1-flash-lite-batch	Gemini 3.1 Flash Lite (Batch)	ri	1000000	65000	0.125 0.75 0.015 0
google/gemini-3.1-pro-preview	Gemini 3.1 Pro Preview	ri	1000000	64000	2 12 0.2 0;200000 4 18 0.4 0
google/gemini-3.1-pro-preview-batch	Gemini 3.1 Pro Preview (Batch)	ri	1000000	64000	1 6 0.2 0;200000 2 9 0.4 0
google/gemini-3.5-flash	Gemini 3.5 Flash	ri	1000000	64000	1.5 9 0.15 0
google/gemini-3.5-flash-lite	Gemini 3.5 Flash Lite	ri	1000000	65000	0.3 2.5 0.03 0
google/gemini-3.5-flash-lite-batch	Gemini 3.5 Flash Lite (Batch)	ri	1000000	65000	0.15 1.25 0.015 0
google/gemini-3.6-flash	Gemini 3.6 Flash	ri	1000000	64000	0.75 3.75 0.075 0
google/gemini-3.6-flash-batch	Gemini 3.6 Flash (Batch)	ri	1000000	64000	0.375 1.875 0.0375 0
google/gemini-3.7-flash	Gemini 3.7 Flash	ri	1000000	65535	0.75 3.75 0.075 0
google/gemini-3.8-flash	Gemini 3.8 Flash	ri	1000000	65535	0.75 3.75 0.075 0
google/gemini-4-argon	Gemini 4 Argon	ri	1000000	1000000	2 10 0.1 0
google/gemma-4-26b-a4b-it	Google Gemma 4 26B A4B	ri	262144	131072	0.15 0.6 0.015 0
google/gemma-4-31b-it	Gemma 4 31B IT	ri	262144	131072	0.14 0.4 0 0
humansand/ampersand-v0.1	Ampersand v0.1	r	1000000	32768	0 0 0 0
inception/mercury-2	Mercury 2	r	128000	128000	0.25 0.75 0.025 0
inception/mercury-2.5	Mercury 2.5	r	260000	65536	0.04 0.15 0.004 0
inception/mercury-3	Mercury 3	r	1000000	131072	0.1 0.35 0.01 0
inception/mercury-coder-small	Mercury Coder Small Beta		32000	16384	0.25 1 0 0
inclusionai/ling-3.0-flash	Ling 3.0 Flash	r	256000	32000	0.021 0.063 0.0042 0
inclusionai/ling-3.0-flash-fin	Ling 3.0 Flash Fin	r	256000	32000	0.075 0.22 0.015 0
inclusionai/ling-3.0-flash-sante	Ling 3.0 Flash Sante	r	256000	32000	0.075 0.22 0.015 0
inclusionai/ling-3.0-flash-vl	Ling 3.0 Flash VL	ri	256000	32000	0.075 0.22 0.015 0
inclusionai/ling-3.1-flash	Ling 3.1 Flash	r	262144	32768	0.3 0.9 0.06 0
inclusionai/ling-3.1-flash-1019	Ling 3.1 Flash 1019	r	1000000	262144	0.3 0.9 0.06 0
interfaze/interfaze-beta	Interfaze Beta	ri	1000000	32000	1.5 3.5 0 0
liquid/lfm2.5-24b-a2b	LFM2.5-24B-A2B	r	128000	8200	0.05 0.7 0.025 0
meituan/longcat-2.5	LongCat 2.5	ri	1048576	131072	0.3 1.2 0.006 0
meta/llama-3.1-70b	Llama 3.1 70B Instruct		128000	8192	0.72 0.72 0 0
meta/llama-3.1-8b	Llama 3.1 8B Instruct		128000	8192	0.22 0.22 0 0
meta/llama-3.3-70b	Llama 3.3 70B Instruct		128000	8192	0.72 0.72 0 0
meta/llama-4-maverick	Llama 4 Maverick 17B Instruct	i	128000	8192	0.24 0.97 0 0
meta/llama-4-scout	Llama 4 Scout 17B Instruct	i	128000	8192	0.17 0.66 0 0
meta/muse-ember	Muse Ember	ri	1048576	1048576	0.1 0.5 0.004 0
meta/muse-glimmer-30b	Muse Glimmer 30B	ri	131072	131072	0.35 1.5 0.04 0
meta/muse-spark-1.1	Muse Spark 1.1	ri	1048576	1048576	1.25 4.25 0.15 0
meta/muse-spark-1.2	Muse Spark 1.2	ri	1048576	1048576	1.25 4.25 0.15 0
meta/muse-spark-1.2-contributor	Muse Spark 1.2 Contributor	ri	1048576	1048576	0.1 0.2 0.002 0
meta/muse-spark-1.3	Muse Spark 1.3	ri	1048576	1048576	1.25 4.25 0.15 0
meta/muse-spark-1.3-contributor	Muse Spark 1.3 Contributor	ri	1048576	1048576	0.1 0.2 0.002 0
meta/muse-spark-open	Muse Spark Open	ri	1048576	1048576	1.25 4.25 0.15 0
meta/muse-wonder-1.0	Muse Wonder	ri	1048576	1048576	4 20 0.2 0
minimax/minimax-m2	MiniMax M2	r	205000	205000	0.3 1.2 0.03 0.375
minimax/minimax-m2.1	MiniMax M2.1	r	204800	131072	0.3 1.2 0.03 0.375
minimax/minimax-m2.1-lightning	MiniMax M2.1 Lightning	r	204800	131072	0.3 2.4 0.03 0.375
minimax/minimax-m2.5	MiniMax M2.5	r	204800	131000	0.3 1.2 0.03 0.375
minimax/minimax-m2.5-highspeed	MiniMax M2.5 High Speed	r	204800	131000	0.6 2.4 0.03 0.375
minimax/minimax-m2.7	MiniMax M2.7	r	204800	131000	0.3 1.2 0.06 0.375
minimax/minimax-m2.7-highspeed	MiniMax M2.7 High Speed	r	204800	131100	0.6 2.4 0.06 0.375
minimax/minimax-m3	MiniMax M3	ri	512000	512000	0.3 1.2 0.06 0
minimax/minimax-m3.1-flash	MiniMax-M3.1-Flash	ri	1048576	1048576	0.15 0.6 0.015 0
mistral/codestral	Mistral Codestral		128000	4000	0.3 0.9 0.03 0
mistral/ministral-14b	Ministral 14B	i	262144	256000	0.2 0.2 0.02 0
mistral/ministral-3b	Ministral 3B	i	131072	4000	0.1 0.1 0.01 0
mistral/ministral-8b	Ministral 8B	i	262144	4000	0.15 0.15 0.015 0
mistral/mistral-large-3	Mistral Large 3	i	262144	256000	0.5 1.5 0.05 0
mistral/mistral-large-4	Mistral Large 4	ri	1048576	262144	0.7 2.1 0.07 0
mistral/mistral-medium-3.5	Mistral Medium Latest	ri	262144	256000	1.5 7.5 0.15 0
mistral/mistral-nemo	Mistral Nemo 12B		131072	131072	0.029 0.03 0 0
mistral/mistral-small	Mistral Small	i	262144	4000	0.15 0.6 0.015 0
mixedbread/toast-1	Toast 1		131000	4000	0.3 0.72 0.036 0
moonshotai/kimi-k2	Kimi K2 Instruct		131072	131072	0.57 2.3 0 0
moonshotai/kimi-k2.5	Kimi K2.5	ri	256000	256000	0.6 3 0 0
moonshotai/kimi-k2.6	Kimi K2.6	ri	262000	262000	0.95 4 0.16 0
moonshotai/kimi-k2.7-code	Kimi K2.7 Code	ri	256000	32768	0.95 4 0.19 0
moonshotai/kimi-k2.7-code-highspeed	Kimi K2.7 Code High Speed	ri	262144	32768	1.9 8 0.38 0
moonshotai/kimi-k3	Kimi K3	ri	1000000	131072	3 15 0.3 0
moonshotai/kimi-k3-fast	Kimi K3 Fast	ri	1000000	131072	4.5 22.5 0.45 0
moonshotai/kimi-k3.1-pro	Kimi K3.1 Pro	ri	1000000	131072	2 10 0.2 0
moonshotai/kimi-k3.1-pro-highspeed	Kimi K3.1 Pro Highspeed	ri	1048576	131072	4 20 0.2 4
nvidia/nemotron-3-nano-30b-a3b	Nemotron 3 Nano 30B A3B	r	262144	262144	0.05 0.2 0.025 0
nvidia/nemotron-3-super-120b-a12b	NVIDIA Nemotron 3 Super 120B A12B	r	256000	32000	0.15 0.65 0 0
nvidia/nemotron-3-ultra-550b-a55b	Nemotron 3 Ultra	r	1000000	65000	0.6 2.4 0.12 0
nvidia/nemotron-3.5-lightning	Nemotron 3.5 Lightning 30B	r	262144	131072	0.06 0.16 0.03 0
nvidia/nemotron-3.5-lightning-free	Nemotron 3.5 Lightning Free	r	1000000	65000	0 0 0 0
nvidia/nemotron-3.5-super-vl	NVIDIA Nemotron 3.5 Super VL	ri	1048576	1048576	0.2 0.5 0.04 0
nvidia/nemotron-nano-12b-v2-vl	Nvidia Nemotron Nano 12B V2 VL	ri	131072	131072	0.2 0.6 0 0
nvidia/nemotron-nano-9b-v2	Nvidia Nemotron Nano 9B V2	r	131072	131072	0.06 0.23 0 0
openai/gpt-4.1	GPT-4.1	i	1047576	32768	2 8 0.5 0
openai/gpt-4.1-batch	GPT-4.1 (Batch)	i	1047576	32768	1 4 0.25 0
openai/gpt-4.1-fast	GPT-4.1 (Fast)	i	1047576	32768	3.5 14 0.875 0
openai/gpt-4.1-mini	GPT-4.1 mini	i	1047576	32768	0.4 1.6 0.1 0
openai/gpt-4.1-mini-batch	GPT-4.1 mini (Batch)	i	1047576	32768	0.2 0.8 0.05 0
openai/gpt-4.1-mini-fast	GPT-4.1 mini (Fast)	i	1047576	32768	0.7 2.8 0.175 0
openai/gpt-4.1-nano	GPT-4.1 nano	i	1047576	32768	0.1 0.4 0.03 0
openai/gpt-4o	GPT-4o	i	128000	16384	2.5 10 1.25 0
openai/gpt-4o-batch	GPT-4o (Batch)	i	128000	16384	1.25 5 0.625 0
openai/gpt-4o-fast	GPT-4o (Fast)	i	128000	16384	4.25 17 2.125 0
openai/gpt-4o-mini	GPT-4o mini	i	128000	16384	0.15 0.6 0.075 0
openai/gpt-4o-mini-batch	GPT-4o mini (Batch)	i	128000	16384	0.075 0.3 0.0375 0
openai/gpt-4o-mini-fast	GPT-4o mini (Fast)	i	128000	16384	0.25 1 0.125 0
openai/gpt-5	GPT-5	ri	400000	128000	1.25 10 0.125 0
openai/gpt-5-batch	GPT-5 (Batch)	ri	400000	128000	0.625 5 0.0625 0
openai/gpt-5-codex	GPT-5-Codex	ri	400000	128000	1.25 10 0.13 0
openai/gpt-5-fast	GPT-5 (Fast)	ri	400000	128000	2.5 20 0.25 0
openai/gpt-5-mini	GPT-5 mini	ri	400000	128000	0.25 2 0.025 0
openai/gpt-5-mini-batch	GPT-5 mini (Batch)	ri	400000	128000	0.125 1 0.0125 0
openai/gpt-5-mini-fast	GPT-5 mini (Fast)	ri	400000	128000	0.45 3.6 0.045 0
openai/gpt-5-nano	GPT-5 nano	ri	400000	128000	0.05 0.4 0.005 0
openai/gpt-5-nano-batch	GPT-5 nano (Batch)	ri	400000	128000	0.025 0.2 0.0025 0
openai/gpt-5-pro	GPT-5 pro	ri	400000	272000	15 120 0 0
openai/gpt-5-pro-batch	GPT-5 pro (Batch)	ri	400000	272000	7.5 60 0 0
openai/gpt-5.1-codex	GPT-5.1-Codex	ri	400000	128000	1.25 10 0.13 0
openai/gpt-5.1-codex-max	GPT 5.1 Codex Max	ri	400000	128000	1.25 10 0.125 0
openai/gpt-5.1-codex-mini	GPT 5.1 Codex Mini	ri	400000	128000	0.25 2 0.03 0
openai/gpt-5.1-thinking	GPT 5.1 Thinking	ri	400000	128000	1.25 10 0.125 0
openai/gpt-5.1-thinking-fast	GPT 5.1 Thinking (Fast)	ri	400000	128000	2.5 20 0.25 0
openai/gpt-5.2	GPT 5.2	ri	400000	128000	1.75 14 0.175 0	xhigh=xhigh
openai/gpt-5.2-batch	GPT 5.2 (Batch)	ri	400000	128000	0.875 7 0.0875 0	xhigh=xhigh
openai/gpt-5.2-codex	GPT 5.2 Codex	ri	400000	128000	1.75 14 0.175 0	xhigh=xhigh
openai/gpt-5.2-fast	GPT 5.2 (Fast)	ri	400000	128000	3.5 28 0.35 0	xhigh=xhigh
openai/gpt-5.2-pro	GPT 5.2 	ri	400000	128000	21 168 0 0	xhigh=xhigh
openai/gpt-5.3-codex	GPT 5.3 Codex	ri	400000	128000	1.75 14 0.175 0	xhigh=xhigh
openai/gpt-5.3-codex-fast	GPT 5.3 Codex (Fast)	ri	400000	128000	3.5 28 0.35 0	xhigh=xhigh
openai/gpt-5.4	GPT 5.4	ri	1050000	128000	2.5 15 0.25 0;271999 5 22.5 0.5 0	xhigh=xhigh
openai/gpt-5.4-batch	GPT 5.4 (Batch)	ri	1050000	128000	1.25 7.5 0.125 0;271999 2.5 11.25 0.25 0	xhigh=xhigh
openai/gpt-5.4-fast	GPT 5.4 (Fast)	ri	1050000	128000	5 30 0.5 0	xhigh=xhigh
openai/gpt-5.4-mini	GPT 5.4 Mini	ri	400000	128000	0.75 4.5 0.075 0	xhigh=xhigh
openai/gpt-5.4-mini-batch	GPT 5.4 Mini (Batch)	ri	400000	128000	0.375 2.25 0.0375 0	xhigh=xhigh
openai/gpt-5.4-mini-fast	GPT 5.4 Mini (Fast)	ri	400000	128000	1.5 9 0.15 0	xhigh=xhigh
openai/gpt-5.4-nano	GPT 5.4 Nano	ri	400000	128000	0.2 1.25 0.02 0	xhigh=xhigh
openai/gpt-5.4-nano-batch	GPT 5.4 Nano (Batch)	ri	400000	128000	0.1 0.625 0.01 0	xhigh=xhigh
openai/gpt-5.4-pro	GPT 5.4 Pro	ri	1050000	128000	30 180 0 0;271999 60 270 0 0	xhigh=xhigh
openai/gpt-5.5	GPT 5.5	ri	1000000	128000	5 30 0.5 0;271999 10 45 1 0	xhigh=xhigh
openai/gpt-5.5-batch	GPT 5.5 (Batch)	ri	1000000	128000	2.5 15 0.25 0;271999 5 22.5 0.5 0	xhigh=xhigh
openai/gpt-5.5-fast	GPT 5.5 (Fast)	ri	1000000	128000	12.5 75 1.25 0	xhigh=xhigh
openai/gpt-5.5-pro	GPT 5.5 Pro	ri	1000000	128000	30 180 0 0;271999 60 270 0 0	xhigh=xhigh off minimal low
openai/gpt-5.5-pro-batch	GPT 5.5 Pro (Batch)	ri	1000000	128000	15 90 0 0;271999 30 135 0 0	xhigh=xhigh
openai/gpt-5.6-luna	GPT 5.6 Luna	ri	1050000	128000	0.2 1.2 0.02 0.25;271999 0.4 1.8 0.04 0.5	xhigh=xhigh
openai/gpt-5.6-luna-batch	GPT 5.6 Luna (Batch)	ri	1050000	128000	0.1 0.6 0.01 0.125;271999 0.2 0.9 0.02 0.25	xhigh=xhigh
openai/gpt-5.6-luna-fast	GPT 5.6 Luna (Fast)	ri	1050000	128000	0.4 2.4 0.04 0.5;271999 0.8 3.6 0.08 1	xhigh=xhigh
openai/gpt-5.6-sol	GPT 5.6 Sol	ri	1050000	128000	4 20 0.4 5;271999 8 30 0.8 10	xhigh=xhigh
openai/gpt-5.6-sol-batch	GPT 5.6 Sol (Batch)	ri	1050000	128000	2 10 0.2 2.5;271999 4 15 0.4 5	xhigh=xhigh
openai/gpt-5.6-sol-fast	GPT 5.6 Sol (Fast)	ri	1050000	128000	8 40 0.8 10;271999 16 60 1.6 20	xhigh=xhigh
openai/gpt-5.6-terra	GPT 5.6 Terra	ri	1050000	128000	2 12 0.2 2.5;271999 4 18 0.4 5	xhigh=xhigh
openai/gpt-5.6-terra-batch	GPT 5.6 Terra (Batch)	ri	1050000	128000	1 6 0.1 1.25;271999 2 9 0.2 2.5	xhigh=xhigh
openai/gpt-5.6-terra-fast	GPT 5.6 Terra (Fast)	ri	1050000	128000	4 24 0.4 5;271999 8 36 0.8 10	xhigh=xhigh
openai/gpt-6-astra	GPT-6 Astra	ri	1050000	128000	10 50 1 12.5;272000 20 75 2 25	xhigh=xhigh
openai/gpt-6-astra-batch	GPT-6 Astra (Batch)	ri	1050000	128000	5 25 0.5 6.25;272000 10 37.5 1 12.5	xhigh=xhigh
openai/gpt-6-astra-fast	GPT-6 Astra (Fast)	ri	1050000	128000	20 100 2 25;272000 40 150 4 50	xhigh=xhigh
openai/gpt-6-luna	GPT-6 Luna	ri	1050000	128000	0.1 0.5 0.01 0.125;272000 0.2 0.75 0.02 0.25	xhigh=xhigh
openai/gpt-6-luna-batch	GPT-6 Luna (Batch)	ri	1050000	128000	0.05 0.25 0.005 0.0625;272000 0.1 0.375 0.01 0.125	xhigh=xhigh
openai/gpt-6-luna-fast	GPT-6 Luna (Fast)	ri	1050000	128000	0.2 1 0.02 0.25;272000 0.4 1.5 0.04 0.5	xhigh=xhigh
openai/gpt-6-sol	GPT-6 Sol	ri	1050000	128000	2 10 0.2 2.5;272000 4 15 0.4 5	xhigh=xhigh
openai/gpt-6-sol-batch	GPT-6 Sol (Batch)	ri	1050000	128000	1 5 0.1 1.25;272000 2 7.5 0.2 2.5	xhigh=xhigh
openai/gpt-6-sol-fast	GPT-6 Sol (Fast)	ri	1050000	128000	4 20 0.4 5;272000 8 30 0.8 10	xhigh=xhigh
openai/gpt-6.1-sol	GPT-6.1 Sol	ri	1050000	128000	2 10 0.1 2.5;272000 4 15 0.2 5	xhigh=xhigh
openai/gpt-6.1-sol-batch	GPT-6.1 Sol (Batch)	ri	1050000	128000	1 5 0.05 1.25;272000 2 7.5 0.1 2.5	xhigh=xhigh
openai/gpt-6.1-sol-fast	GPT-6.1 Sol (Fast)	ri	1050000	128000	4 20 0.2 5;272000 8 30 0.4 10	xhigh=xhigh
openai/gpt-6.1-terra	GPT-6.1 Terra	ri	1050000	128000	1 5 0.05 1.25;272000 2 7.5 0.1 2.5	xhigh=xhigh
openai/gpt-6.1-terra-fast	GPT-6.1 Terra (Fast)	ri	1050000	128000	2 10 0.1 2.5;272000 4 15 0.2 5	xhigh=xhigh
openai/gpt-oss-120b	GPT OSS 120B	r	131072	131072	0.1 0.5 0.1 0
openai/gpt-oss-20b	GPT OSS 20B	r	131072	8192	0.03 0.14 0 0
openai/gpt-oss-safeguard-120b	GPT OSS Safeguard 120B	r	128000	16000	0.15 0.6 0 0
openai/gpt-oss-safeguard-20b	GPT OSS Safeguard 20B	r	128000	16000	0.07 0.2 0 0
openai/o1	o1	ri	200000	100000	15 60 7.5 0
openai/o3	o3	ri	200000	100000	2 8 0.5 0
openai/o3-fast	o3 (Fast)	ri	200000	100000	3.5 14 0.875 0
openai/o3-mini	o3-mini	r	200000	100000	1.1 4.4 0.55 0
openai/o3-pro	o3 Pro	ri	200000	100000	20 80 0 0
openai/o4-mini	o4-mini	ri	200000	100000	1.1 4.4 0.275 0
particle/particle-1	Particle-1	ri	1048576	131072	0.125 0.5 0.015 0
poolside/laguna-s-2.1	Laguna S 2.1	r	1000000	131072	0.09 0.18 0.009 0
quiverai/arrow-2	Arrow 2	ri	131072	131072	4 20 0.4 5
quiverai/arrow-2-telos	Arrow 2 Telos	ri	131072	131072	6 30 0.6 7.5
reflection/beam	Beam 1.0	r	1048576	131072	0 0 0 0
reflection/beam-free	Beam 1.0 (Free)	r	1048576	131072	0 0 0 0
sakana/fugu-max	Fugu Max	ri	1000000	1000000	2 6 0.25 0
sakana/fugu-ultra	Fugu Ultra	ri	1000000	1000000	5 30 0.5 0;272000 10 45 1 0
sakana/fugu-ultra-v2	Fugu Ultra v2	ri	1000000	1000000	5 30 0.5 0;272000 10 45 1 0
sakana/namazu	Sakana Namazu	ri	256000	256000	0.95 4 0.15 0
spacexai/grok-4.20-multi-agent	Grok 4.20 Multi-Agent	ri	2000000	2000000	1.25 2.5 0.2 0;200000 2.5 5 0.4 0
spacexai/grok-4.20-multi-agent-batch	Grok 4.20 Multi-Agent (Batch)	ri	2000000	2000000	1 2 0.16 0;200000 2 4 0.32 0
spacexai/grok-4.20-multi-agent-beta	Grok 4.20 Multi Agent Beta	ri	2000000	2000000	1.25 2.5 0.2 0;200000 2.5 5 0.4 0
spacexai/grok-4.20-non-reasoning	Grok 4.20 Non-Reasoning	i	2000000	2000000	1.25 2.5 0.2 0;200000 2.5 5 0.4 0
spacexai/grok-4.20-non-reasoning-batch	Grok 4.20 Non-Reasoning (Batch)	i	2000000	2000000	1 2 0.16 0;200000 2 4 0.32 0
spacexai/grok-4.20-non-reasoning-beta	Grok 4.20 Beta Non-Reasoning	i	2000000	2000000	1.25 2.5 0.2 0;200000 2.5 5 0.4 0
spacexai/grok-4.20-reasoning	Grok 4.20 Reasoning	ri	2000000	2000000	1.25 2.5 0.2 0;200000 2.5 5 0.4 0
spacexai/grok-4.20-reasoning-batch	Grok 4.20 Reasoning (Batch)	ri	2000000	2000000	1 2 0.16 0;200000 2 4 0.32 0
spacexai/grok-4.20-reasoning-beta	Grok 4.20 Beta Reasoning	ri	2000000	2000000	1.25 2.5 0.2 0;200000 2.5 5 0.4 0
spacexai/grok-4.3	Grok 4.3	ri	1000000	1000000	1.25 2.5 0.2 0;200000 2.5 5 0.4 0
spacexai/grok-4.3-batch	Grok 4.3 (Batch)	ri	1000000	1000000	1 2 0.16 0;200000 2 4 0.32 0
spacexai/grok-4.5	Grok 4.5	ri	500000	500000	2 6 0.3 0;200000 4 12 0.6 0
spacexai/grok-4.6	Grok 4.6	ri	500000	500000	2 6 0.5 0;200000 4 12 1 0
spacexai/grok-4.7	Grok 4.7	ri	500000	500000	2 6 0.5 0;200000 4 12 1 0
spacexai/grok-build-0.1	Grok Build 0.1	ri	256000	256000	1 2 0.2 0;200000 2 4 0.4 0
spacexai/grok-voice-3.0	Grok Voice 3.0	r	4096	4096	0 0 0 0
stealth/glyph-cluster	Glyph Cluster	r	256000	256000	0 0 0 0
stepfun/step-3.7-flash	Step 3.7 Flash	ri	256000	256000	0.2 1.15 0.04 0
stepfun/step-5-preview	Step 5 Preview	ri	1048576	1048576	1 2.7 0.1 0
tencent/hy3	Tencent Hy3	r	262144	262144	0.14 0.58 0.035 0
tencent/hy4	Tencent Hy4	ri	1024000	64000	0.417 1.2505 0.021 0
tencent/hy4-preview	Tencent Hy4 Preview	r	1024000	64000	0.834 2.501 0.042 0
thinkingmachines/inkling	Inkling	ri	256000	256000	1 4.05 0.17 0
thinkingmachines/inkling-small	Inkling Small	ri	1000000	1000000	0.45 1.2 0.1 0
xiaomi/mimo-v2.6-flash	MiMo V2.6 Flash	ri	1048576	131072	0.14 0.28 0.0028 0
xiaomi/mimo-v2.6-pro	MiMo V2.6 Pro	ri	1048576	131072	0.435 0.87 0.0036 0
xiaomi/mimo-v2.6-pro-ultraspeed	MiMo V2.6 Pro UltraSpeed	ri	1048576	131072	4.35 8.7 0.036 0
zai/glm-4.5	GLM 4.5	r	128000	96000	0.6 2.2 0.11 0
zai/glm-4.5-air	GLM 4.5 Air	r	128000	96000	0.2 1.1 0.03 0
zai/glm-4.5v	GLM 4.5V	ri	66000	16000	0.6 1.8 0.11 0
zai/glm-4.6	GLM 4.6	r	200000	96000	0.6 2.2 0.11 0
zai/glm-4.7	GLM 4.7	r	200000	120000	0.6 2.2 0 0
zai/glm-4.7-flash	GLM 4.7 Flash	r	200000	131000	0.07 0.4 0 0
zai/glm-4.7-flashx	GLM 4.7 FlashX	r	200000	128000	0.06 0.4 0.01 0
zai/glm-5	GLM 5	r	202800	131100	1 3.2 0 0
zai/glm-5-turbo	GLM 5 Turbo	r	202800	131100	1.2 4 0.24 0
zai/glm-5.1	GLM 5.1	r	202800	64000	1.4 4.4 0.26 0
zai/glm-5.2	GLM 5.2	r	1000000	128000	1.4 4.4 0.14 0
zai/glm-5.2-fast	GLM 5.2 Fast	r	1000000	128000	2.8 8.8 0.56 0
zai/glm-5.3	GLM 5.3	r	1000000	1000000	1.4 4.4 0.14 0
zai/glm-5.3-fast	GLM 5.3 Fast	r	1048576	262144	2.1 6.6 0.21 0
zai/glm-5.3-flash	GLM 5.3 Flash	ri	1000000	131000	0.15 0.5 0.03 0
zai/glm-5.3-flashx	GLM 5.3 FlashX	ri	1000000	131072	0.37 1.25 0.075 0
zai/glm-5.3-flashx-legal	GLM 5.3 FlashX Legal	ri	1000000	131072	0.37 1.25 0.075 0
zai/glm-5v-turbo	GLM 5V Turbo	ri	200000	128000	1.2 4 0.24 0
# xai
@ openai-responses https://api.x.ai/v1
grok-4.3	Grok 4.3	ri	1000000	30000	1.25 2.5 0.2 0;200000 2.5 5 0.4 0	off=none minimal low=low medium=medium high=high xhigh=xhigh max
grok-4.5	Grok 4.5	ri	500000	500000	2 6 0.3 0;200000 4 12 0.6 0	off minimal low=low medium=medium high=high xhigh=xhigh max
grok-4.6	Grok 4.6	ri	500000	500000	2 6 0.5 0;200000 4 12 1 0	off minimal low=low medium=medium high=high xhigh=xhigh max
grok-4.7	Grok 4.7	ri	500000	500000	2 6 0.5 0;200000 4 12 1 0	off minimal low=low medium=medium high=high xhigh=xhigh max
# xiaomi
@ openai-completions https://api.xiaomimimo.com/v1
mimo-v2.6-flash	MiMo-V2.6-Flash	ri	1048576	131072	0.14 0.28 0.0028 0	off=off minimal low medium high=high xhigh max
mimo-v2.6-pro	MiMo-V2.6-Pro	ri	1048576	131072	0.435 0.87 0.0036 0	off=off minimal low medium high=high xhigh max
mimo-v2.6-pro-ultraspeed	MiMo-V2.6-Pro-UltraSpeed	ri	1048576	131072	4.35 8.7 0.036 0	off=off minimal low medium high=high xhigh max
# xiaomi-token-plan-ams
@ openai-completions https://token-plan-ams.xiaomimimo.com/v1
mimo-v2.6-flash	MiMo-V2.6-Flash	ri	1048576	131072	0 0 0 0	off=off minimal low medium high=high xhigh max
mimo-v2.6-pro	MiMo-V2.6-Pro	ri	1048576	131072	0 0 0 0	off=off minimal low medium high=high xhigh max
# xiaomi-token-plan-cn
@ openai-completions https://token-plan-cn.xiaomimimo.com/v1
mimo-v2.6-flash	MiMo-V2.6-Flash	ri	1048576	131072	0 0 0 0	off=off minimal low medium high=high xhigh max
mimo-v2.6-pro	MiMo-V2.6-Pro	ri	1048576	131072	0 0 0 0	off=off minimal low medium high=high xhigh max
# xiaomi-token-plan-sgp
@ openai-completions https://token-plan-sgp.xiaomimimo.com/v1
mimo-v2.6-flash	MiMo-V2.6-Flash	ri	1048576	131072	0 0 0 0	off=off minimal low medium high=high xhigh max
mimo-v2.6-pro	MiMo-V2.6-Pro	ri	1048576	131072	0 0 0 0	off=off minimal low medium high=high xhigh max
# zai
@ openai-completions https://api.z.ai/api/coding/paas/v4
glm-4.7	GLM-4.7	r	204800	131072	0.6 2.2 0.11 0
glm-5-turbo	GLM-5-Turbo	r	200000	131072	1.2 4 0.24 0
glm-5.2	GLM-5.2	r	1000000	131072	1.4 4.4 0.26 0	off=none minimal low medium high=high xhigh max=max
glm-5.2-highspeed	GLM-5.2 Highspeed	r	1000000	131072	0 0 0 0	off=none minimal low medium high=high xhigh max=max
glm-5.3	GLM-5.3	r	1000000	131072	1.4 4.4 0.26 0	off minimal low=low medium high=high xhigh max=max
glm-5.3-flash	GLM-5.3-Flash	ri	1000000	131072	0.15 0.5 0.03 0	off minimal low=low medium high=high xhigh max=max
glm-5.3-highspeed	GLM-5.3 Highspeed	r	1000000	131072	0 0 0 0	off minimal low=low medium high=high xhigh max=max
# zai-coding-cn
@ openai-completions https://open.bigmodel.cn/api/coding/paas/v4
glm-4.6v	GLM-4.6V	ri	128000	32768	0.3 0.9 0.05 0
glm-5.3	GLM-5.3	r	1000000	131072	1.4 4.4 0.26 0	off minimal low=low medium high=high xhigh max=max
glm-5.3-flash	GLM-5.3-Flash	ri	1000000	131072	0.15 0.5 0.03 0	off minimal low=low medium high=high xhigh max=max
glm-5.3-highspeed	GLM-5.3 Highspeed	r	1000000	131072	0 0 0 0	off minimal low=low medium high=high xhigh max=max
`;
