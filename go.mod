module github.com/parlance-llm/parlance

go 1.27
