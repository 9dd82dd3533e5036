module github.com/parlance-llm/parlance

go 1.27

require go.yaml.in/yaml/v3 v3.0.6
